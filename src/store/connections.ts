// Lends connections to jobs: the one of SQLite, or one of MySQL's pool.
//
// Invariants:
//   L1. A connection that broke, or whose transaction could not be ended, is never lent again.
//   L2. Nothing waits for an answer of the server longer than ANSWER_MS_MAX: a server that hangs,
//       or a network that swallows packets, would otherwise keep every connection of the pool.
//   L3. A connection that comes after nobody waits for it goes back to the pool, which would be
//       used up by a few of them.

import type { DataSource, QueryRunner } from 'typeorm'

import type { Runtime } from '#domain/runtime'
import { BulkSocket } from './mysql/wire/bulk-socket.ts'
import type { Dialect, Value } from './dialect.ts'
import { ExecutionLine, Rooms } from './mysql/wire/executions.ts'
import type { PreparingConnection } from './mysql/wire/executions.ts'
import { RunnerSession } from './session.ts'
import type { Bounded, Changes, RowsStatement, Send, Session, StatementLimits } from './session.ts'
import { NoAnswer } from './store-error.ts'

export const ANSWER_MS_MAX = 10_000

export interface Lent {
  readonly session: Session
  giveBack(): Promise<void>
  /** L1 */
  discard(): void
}

export interface Connections {
  lend(): Promise<Lent>
}

export function connectionsOf(
  source: DataSource,
  dialect: Dialect,
  { after }: Pick<Runtime, 'after'>,
): Connections {
  return dialect.connections === 1 ? new Sole(source, dialect) : new Pool(source, dialect, after)
}

/** The one connection of a database that lives in this process. */
class Sole implements Connections {
  readonly #lent: Lent

  constructor(source: DataSource, dialect: Dialect) {
    const session = new RunnerSession(source.createQueryRunner(), dialect, (answer) => answer)
    this.#lent = { session, giveBack: () => Promise.resolve(), discard: () => {} }
  }

  lend(): Promise<Lent> {
    return Promise.resolve(this.#lent)
  }
}

class Pool implements Connections {
  readonly #source: DataSource
  readonly #dialect: Dialect
  readonly #bounded: Bounded
  readonly #rooms = new Rooms()
  /** Of the connections that are set up. */
  readonly #lines = new WeakMap<DriverConnection, ExecutionLine>()

  constructor(source: DataSource, dialect: Dialect, after: Runtime['after']) {
    this.#source = source
    this.#dialect = dialect
    this.#bounded = (answer) =>
      new Promise((resolve, reject) => {
        const cancel = after(ANSWER_MS_MAX, () => reject(new NoAnswer())) // L2
        answer.then(resolve, reject).finally(cancel)
      })
  }

  async lend(): Promise<Lent> {
    const runner = this.#source.createQueryRunner()
    const connection = await this.#connected(runner)
    if (!isDriverConnection(connection)) throw new Error('the driver gave no connection')
    const discard = (): void => discardConnection(connection)
    try {
      const line = this.#lines.get(connection) ?? (await this.#setUp(runner, connection))
      const session = new PooledSession({ runner, connection, line }, this.#dialect, this.#bounded)
      return { session, giveBack: () => runner.release(), discard }
    } catch (error) {
      discard()
      throw error
    }
  }

  /** A connection of the pool, or a new one. */
  async #connected(runner: QueryRunner): Promise<unknown> {
    const connecting: Promise<unknown> = runner.connect()
    try {
      return await this.#bounded(connecting)
    } catch (error) {
      connecting.then(() => runner.release()).catch(() => undefined) // L3
      throw error
    }
  }

  async #setUp(runner: QueryRunner, connection: DriverConnection): Promise<ExecutionLine> {
    for (const statement of this.#dialect.setup) await this.#bounded(runner.query(statement))
    const line = new ExecutionLine(connection, this.#rooms)
    this.#lines.set(connection, line)
    return line
  }
}

interface Held {
  readonly runner: QueryRunner
  readonly connection: DriverConnection
  readonly line: ExecutionLine
}

/** What of mysql2's connection is used beside TypeORM, which knows no prepared statements. */
interface DriverConnection extends PreparingConnection {
  destroy(): void
  readonly stream?: { destroy(): void }
}

const isDriverConnection = (value: unknown): value is DriverConnection =>
  typeof value === 'object' && value !== null && 'prepare' in value && 'addCommand' in value

/** A server that is not heard any more would not hear the end of the connection either. */
function discardConnection(connection: DriverConnection): void {
  connection.destroy()
  connection.stream?.destroy()
}

/** Bounds what a turn holds in memory for statements: each has some mebibytes at most. */
const UNDER_WAY_MAX = 8
/**
 * The rows of a bulk execution: one statement for most turns, while the next table's is made.
 */
const BULK_ROWS_MAX = 1_024

/**
 * Rows are written by prepared statements: 15 / 29 / 31 thousand submissions a second at 50 / 200 /
 * 1,000 a transaction, against 10 / 22 / 23 with parameters written into the text and 15 / 19 / 19
 * with one JSON parameter. Where the server takes bulk executions it needs a fifth less for them:
 * it has the parameters of one row, not of hundreds, to make, bind and clean.
 */
class PooledSession extends RunnerSession {
  readonly #line: ExecutionLine
  readonly #isBulk: boolean
  readonly #bounded: Bounded
  /** Of the statement made by us that was sent last. */
  #answer: Promise<unknown> = Promise.resolve()

  constructor({ runner, connection, line }: Held, dialect: Dialect, bounded: Bounded) {
    super(runner, dialect, bounded)
    this.#line = line
    this.#isBulk = connection.stream instanceof BulkSocket && connection.stream.isBulk
    this.#bounded = bounded
  }

  override get limits(): StatementLimits {
    const own = { underWayMax: UNDER_WAY_MAX, isTextOfOneRow: this.#isBulk }
    return { ...super.limits, ...own, ...(this.#isBulk && { rowsMax: BULK_ROWS_MAX }) }
  }

  override all<Row>(sql: string, parameters?: readonly Value[]): Promise<Row[]> {
    this.#line.interrupt()
    return super.all(sql, parameters)
  }

  override run(sql: string, parameters?: readonly Value[]): Promise<Changes> {
    this.#line.interrupt()
    return super.run(sql, parameters)
  }

  override make(statement: RowsStatement): Send {
    const send = this.#line.make(statement, this.#isBulk)
    return () => {
      const answer = send()
      // The server begins with it once it has answered those before. (L2)
      const bounded = this.#answer.then(() => this.#bounded(answer))
      this.#answer = answer.catch(() => undefined)
      return bounded
    }
  }
}
