// The one connection, given to one job at a time.
//
//   job ─▶ gate (FIFO, bounded) ─▶ begin ─▶ statements ─▶ commit, or rollback ─▶ next job
//
// Invariants:
//   G1. Jobs never overlap. TypeORM's statements are asynchronous, so the statements of two
//       transactions would otherwise mix on the one connection.
//   G2. At most JOBS_WAITING_MAX jobs wait; the next one is refused at once and nothing of it
//       happens.
//   G3. What leaves the gate as an error carries no parameter: TypeORM's own errors do.

import { QueryFailedError } from 'typeorm'
import type { DataSource, QueryRunner } from 'typeorm'

import { reportDefect } from '#domain/defect'
import { LogMismatch } from '#domain/lane'
import type { Meter } from '#domain/telemetry'
import type { Dialect, TransactionKind, Value } from './dialect.ts'
import { StoreBusy, StoreError } from './store-error.ts'

export const JOBS_WAITING_MAX = 10_000

/** What a statement that gives no rows did. */
export interface Changes {
  readonly affected: number
  /** What the driver tells about generated ids; for Dialect.firstId. */
  readonly raw: unknown
}

/**
 * The connection as a job has it, for as long as the job runs. Statements are text with parameters
 * and not TypeORM's query builder: that one writes numbers into the text, so each statement would
 * be a new one and drive those of the hot path out of the driver's prepared ones.
 */
export class Session {
  readonly dialect: Dialect
  readonly #runner: QueryRunner

  constructor(runner: QueryRunner, dialect: Dialect) {
    this.#runner = runner
    this.dialect = dialect
  }

  /** The rows of a SELECT. Their shape is what the statement says; nobody checks it again. */
  async all<Row>(sql: string, parameters: readonly Value[] = []): Promise<Row[]> {
    const rows: unknown = await this.#runner.query(sql, this.dialect.bind(parameters))
    if (!Array.isArray(rows)) throw new StoreError('no_rows', 'the statement gave no rows')
    return rows as Row[]
  }

  async first<Row>(sql: string, parameters: readonly Value[] = []): Promise<Row | undefined> {
    const [row] = await this.all<Row>(sql, parameters)
    return row
  }

  async run(sql: string, parameters: readonly Value[] = []): Promise<Changes> {
    const result = await this.#runner.query(sql, this.dialect.bind(parameters), true)
    return { affected: result.affected ?? 0, raw: result.raw }
  }
}

/** A job's answer when nothing that it wrote may stay. */
export class RolledBack<Answer> {
  readonly answer: Answer

  constructor(answer: Answer) {
    this.answer = answer
  }
}

type Job<Answer> = (session: Session) => Promise<Answer | RolledBack<Answer>>

export class Database {
  readonly dialect: Dialect
  readonly #source: DataSource
  readonly #runner: QueryRunner
  readonly #session: Session
  readonly #queues: (() => number)[] = []
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #isClosed = false

  constructor(source: DataSource, dialect: Dialect, meter: Meter) {
    this.dialect = dialect
    this.#source = source
    this.#runner = source.createQueryRunner()
    this.#session = new Session(this.#runner, dialect)
    meter.gauge('store_queue', {}, () => {
      let waiting = this.#waiting
      for (const count of this.#queues) waiting += count()
      return waiting
    })
  }

  /** Adds what waits in front of the gate to the metric. */
  countQueue(count: () => number): void {
    this.#queues.push(count)
  }

  read<Answer>(job: Job<Answer>): Promise<Answer> {
    return this.#enter('read', job)
  }

  /** A transaction that its writer does again should a power cut take it back. */
  repeatable<Answer>(job: Job<Answer>): Promise<Answer> {
    return this.#enter('repeatable', job)
  }

  /** A transaction that is on the disk when this resolves. */
  durable<Answer>(job: Job<Answer>): Promise<Answer> {
    return this.#enter('durable', job)
  }

  /** Ends after the jobs that wait; later ones are refused. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#last
    await this.#runner.release()
    await this.#source.destroy()
  }

  #enter<Answer>(kind: TransactionKind, job: Job<Answer>): Promise<Answer> {
    if (this.#isClosed) {
      return Promise.reject(new StoreError('closed', 'the database is closed'))
    }
    if (this.#waiting >= JOBS_WAITING_MAX) {
      return Promise.reject(new StoreBusy(this.#waiting)) // G2
    }
    this.#waiting += 1
    const turn = this.#last.then(async () => {
      this.#waiting -= 1
      return this.#transact(kind, job)
    })
    this.#last = turn.catch(() => {}) // G1: a job that failed must not stop the next one.
    return turn
  }

  async #transact<Answer>(kind: TransactionKind, job: Job<Answer>): Promise<Answer> {
    const begin = this.dialect.begin[kind]
    try {
      for (const statement of begin) await this.#session.run(statement)
      const answer = await job(this.#session)
      const isUndone = answer instanceof RolledBack
      if (begin.length > 0) await this.#session.run(isUndone ? 'ROLLBACK' : 'COMMIT')
      return isUndone ? answer.answer : answer
    } catch (error) {
      if (begin.length > 0) await this.#undo()
      throw withoutParameters(error, this.dialect) // G3
    }
  }

  /**
   * Some failures, such as a full disk, have ended the transaction already; then this one is
   * refused.
   */
  async #undo(): Promise<void> {
    await this.#session.run('ROLLBACK').catch(() => {})
  }
}

/** G3: the same failure, in words that may stand in a log. */
export function withoutParameters(error: unknown, dialect: Dialect): Error {
  if (error instanceof StoreError || error instanceof LogMismatch) return error
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error
  const refused = dialect.describe(cause)
  if (refused !== undefined) {
    return new StoreError(refused.code, `the database failed: ${refused.sentence}`)
  }
  const { name, frames } = reportDefect(error)
  const defect = new StoreError('defect', `the store failed with ${name}`)
  defect.stack = [defect.message, ...frames].join('\n    ')
  return defect
}
