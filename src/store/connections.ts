// Lends connections to jobs: the one of SQLite, or one of MySQL's pool.
//
// Invariants:
//   L1. A connection that broke, or whose transaction could not be ended, is never lent again.
//   L2. Nothing waits for an answer of the server longer than ANSWER_MS_MAX: a server that hangs,
//       or a network that swallows packets, would otherwise keep every connection of the pool.
//   L3. A connection that comes after nobody waits for it goes back to the pool, which would be
//       used up by a few of them.

import type { DataSource, QueryRunner } from 'typeorm'

import { BulkSocket } from './bulk-socket.ts'
import type { Dialect } from './dialect.ts'
import type { Pacing } from './pacing.ts'
import { PreparedInserts } from './prepared-insert.ts'
import type { PreparingConnection } from './prepared-insert.ts'
import { RunnerSession } from './session.ts'
import type { Bounded, Insert, Insertion, InsertSizes, Session } from './session.ts'
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

export function connectionsOf(source: DataSource, dialect: Dialect, pacing: Pacing): Connections {
  return dialect.connections === 1 ? new Sole(source, dialect) : new Pool(source, dialect, pacing)
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
  readonly #inserts = new PreparedInserts()
  readonly #ready = new WeakSet<DriverConnection>()

  constructor(source: DataSource, dialect: Dialect, pacing: Pacing) {
    this.#source = source
    this.#dialect = dialect
    this.#bounded = (answer) =>
      new Promise((resolve, reject) => {
        const cancel = pacing.after(ANSWER_MS_MAX, () => reject(new NoAnswer())) // L2
        answer.then(resolve, reject).finally(cancel)
      })
  }

  async lend(): Promise<Lent> {
    const runner = this.#source.createQueryRunner()
    const connection = await this.#connected(runner)
    if (!isDriverConnection(connection)) throw new Error('the driver gave no connection')
    const held = { runner, connection, inserts: this.#inserts }
    const session = new PooledSession(held, this.#dialect, this.#bounded)
    const discard = (): void => discardConnection(connection)
    try {
      await this.#prepare(session, connection)
    } catch (error) {
      discard()
      throw error
    }
    return { session, giveBack: () => runner.release(), discard }
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

  async #prepare(session: Session, connection: DriverConnection): Promise<void> {
    if (this.#ready.has(connection)) return
    for (const statement of this.#dialect.setup) await session.run(statement)
    this.#ready.add(connection)
  }
}

interface Held {
  readonly runner: QueryRunner
  readonly connection: DriverConnection
  readonly inserts: PreparedInserts
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

/**
 * The rows of a bulk execution: one statement for most turns, while the next table's is made.
 */
const BULK_SIZES: InsertSizes = { most: 1_024, arePowersOfTwo: false }

/**
 * Rows are written by prepared statements: 15 / 29 / 31 thousand submissions a second at 50 / 200 /
 * 1,000 a transaction, against 10 / 22 / 23 with parameters written into the text and 15 / 19 / 19
 * with one JSON parameter. Where the server takes bulk executions it needs a fifth less for them:
 * it has the parameters of one row, not of hundreds, to make, bind and clean.
 */
class PooledSession extends RunnerSession {
  readonly #held: Held
  readonly #isBulk: boolean
  readonly #bounded: Bounded

  constructor(held: Held, dialect: Dialect, bounded: Bounded) {
    super(held.runner, dialect, bounded)
    const { stream } = held.connection
    this.#held = held
    this.#isBulk = stream instanceof BulkSocket && stream.isBulk
    this.#bounded = bounded
  }

  override get insertSizes(): InsertSizes {
    return this.#isBulk ? BULK_SIZES : super.insertSizes
  }

  override insert(insert: Insert): Insertion {
    const { connection, inserts } = this.#held
    const send = inserts.make(insert, this.#isBulk)
    return () => this.#bounded(send(connection))
  }
}
