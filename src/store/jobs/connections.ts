// Lends connections to jobs: SQLite's only one, or one of MySQL's pool.
//
// Invariants:
//   connections/1. A connection that broke, or whose transaction could not be ended, is never lent
//     again.
//   connections/2. No job waits for an answer of the server longer than ANSWER_MS_MAX: a server
//     that hangs, or a network that swallows packets, would otherwise keep every connection of the
//     pool.
//   connections/3. A connection that comes when nobody waits for it any more goes back to the pool:
//     a few lost ones would use the pool up.
//   connections/4. The driver is tried once before anything depends on it. When it does not handle
//     our packets rightly, its own executions replace them, if those work: a refusal of the
//     database either way is not the driver's fault.

import type { Runtime } from '#domain/runtime'
import type { Dialect, Value } from '#src/store/dialect'
import { discardConnection, isDriverConnection, isOpen } from '#src/store/mysql/wire/driver'
import type { DriverConnection } from '#src/store/mysql/wire/driver'
import { DriverExecutions } from '#src/store/mysql/wire/driver-executions'
import type { Executions } from '#src/store/mysql/wire/executions'
import { PipelinedExecutions, Rooms } from '#src/store/mysql/wire/pipelined'
import { tryExecutions } from '#src/store/mysql/wire/trial'
import { RunnerExecutor } from './executor.ts'
import type {
  Bounded,
  Changes,
  RowsStatement,
  Runner,
  Send,
  Executor,
  Source,
  StatementLimits,
} from './executor.ts'
import { NoAnswer, causeOf } from '#src/store/store-error'

export const ANSWER_MS_MAX = 10_000

export interface Lent {
  readonly executor: Executor
  giveBack(): Promise<void>
  /** connections/1 */
  discard(): void
}

export interface Connections {
  lend(): Promise<Lent>
  /**
   * Tries the ways of sending statements. Gives the fault of the fast way when it fell back to the
   * driver's own. Rejects when the database cannot be written to at all. (connections/4)
   */
  check(): Promise<string | undefined>
}

export function connectionsOf(
  source: Source,
  dialect: Dialect,
  { after }: Pick<Runtime, 'after'>,
): Connections {
  return dialect.connections === 1 ? new Sole(source, dialect) : new Pool(source, dialect, after)
}

/** The only connection of a database that lives in this process. */
class Sole implements Connections {
  readonly #lent: Lent

  constructor(source: Source, dialect: Dialect) {
    const executor = new RunnerExecutor(source.createQueryRunner(), dialect, (answer) => answer)
    this.#lent = { executor, giveBack: () => Promise.resolve(), discard: () => {} }
  }

  lend(): Promise<Lent> {
    return Promise.resolve(this.#lent)
  }

  check(): Promise<undefined> {
    return Promise.resolve(undefined)
  }
}

class Pool implements Connections {
  readonly #source: Source
  readonly #dialect: Dialect
  readonly #bounded: Bounded
  readonly #rooms = new Rooms()
  /** Present for connections that are set up. */
  readonly #executions = new WeakMap<DriverConnection, Executions>()
  #isPipelined = true

  constructor(source: Source, dialect: Dialect, after: Runtime['after']) {
    this.#source = source
    this.#dialect = dialect
    this.#bounded = (answer) =>
      new Promise((resolve, reject) => {
        const cancel = after(ANSWER_MS_MAX, () => reject(new NoAnswer())) // connections/2
        answer.then(resolve, reject).finally(cancel)
      })
  }

  async lend(): Promise<Lent> {
    const runner = this.#source.createQueryRunner()
    const connection = await this.#connected(runner)
    if (!isDriverConnection(connection)) throw new Error('the driver gave no connection')
    const discard = (): void => discardConnection(connection)
    try {
      const known = this.#executions.get(connection)
      const executions = known ?? (await this.#setUp(runner, connection))
      const executor = new PooledExecutor({ runner, executions }, this.#dialect, this.#bounded)
      return { executor, giveBack: () => runner.release(), discard }
    } catch (error) {
      discard()
      throw error
    }
  }

  /** Returns a connection of the pool, or a new one. */
  async #connected(runner: Runner): Promise<unknown> {
    const connecting: Promise<unknown> = runner.connect()
    try {
      return await this.#bounded(connecting)
    } catch (error) {
      connecting.then(() => runner.release()).catch(() => undefined) // connections/3
      throw error
    }
  }

  async #setUp(runner: Runner, connection: DriverConnection): Promise<Executions> {
    for (const statement of this.#dialect.setup) await this.#bounded(runner.query(statement))
    const executions = this.#executionsOn(connection)
    this.#executions.set(connection, executions)
    return executions
  }

  #executionsOn(connection: DriverConnection): Executions {
    if (!this.#isPipelined) return new DriverExecutions(connection)
    if (!isOpen(connection)) throw new Error('a member of its connection is missing')
    return new PipelinedExecutions(connection, this.#rooms)
  }

  async check(): Promise<string | undefined> {
    const failure = await this.#try()
    if (failure === undefined) return undefined
    if (this.#dialect.failureOf(causeOf(failure)) === 'lost') throw failure
    this.#isPipelined = false // connections/4
    const other = await this.#try()
    if (other === undefined) return failure.message
    this.#isPipelined = true
    throw other
  }

  /**
   * Returns the fault, if there is one. A failed connection may still do anything.
   * (connections/1)
   */
  async #try(): Promise<Error | undefined> {
    let lent: Lent | undefined
    try {
      lent = await this.lend()
      const wrong = await tryExecutions(lent.executor)
      if (wrong !== undefined) throw new Error(wrong)
      await lent.giveBack()
      return undefined
    } catch (error) {
      lent?.discard()
      return error instanceof Error ? error : new Error('the trial failed', { cause: error })
    }
  }
}

interface Held {
  readonly runner: Runner
  readonly executions: Executions
}

/**
 * Statements under way at most: this bounds the memory of a turn's statements, of some mebibytes
 * each.
 */
const UNDER_WAY_MAX = 8
/**
 * Rows are written by prepared statements: 15 / 29 / 31 thousand submissions a second at 50 / 200 /
 * 1,000 a transaction, against 10 / 22 / 23 with parameters written into the text and 15 / 19 / 19
 * with one JSON parameter.
 */
class PooledExecutor extends RunnerExecutor {
  readonly #executions: Executions
  readonly #bounded: Bounded
  /** The answer to the latest of these executions. */
  #answer: Promise<unknown> = Promise.resolve()

  constructor({ runner, executions }: Held, dialect: Dialect, bounded: Bounded) {
    super(runner, dialect, bounded)
    this.#executions = executions
    this.#bounded = bounded
  }

  override get limits(): StatementLimits {
    return { ...super.limits, underWayMax: UNDER_WAY_MAX }
  }

  override all<Row>(sql: string, parameters?: readonly Value[]): Promise<Row[]> {
    this.#executions.interrupt()
    return super.all(sql, parameters)
  }

  override run(sql: string, parameters?: readonly Value[]): Promise<Changes> {
    this.#executions.interrupt()
    return super.run(sql, parameters)
  }

  override make(statement: RowsStatement): Send {
    const send = this.#executions.make(statement)
    return () => {
      const answer = send()
      // The server begins with it once it has answered earlier ones. (connections/2)
      const bounded = this.#answer.then(() => this.#bounded(answer))
      this.#answer = answer.catch(() => undefined)
      return bounded
    }
  }
}
