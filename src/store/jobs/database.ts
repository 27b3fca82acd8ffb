// Runs jobs: each is one transaction, or only reads.
//
//   job ─▶ gate (bounded) ─▶ connection ─▶ begin ─▶ statements ─▶ commit, or rollback
//                 ▲                                                      │ deadlock, lost line
//                 └───────────────────── pause ◀─────────────────────────┘
//
// Invariants:
//   database/1. SQLite has one connection and jobs never overlap on it (gate.ts): the answers of
//     statements are asynchronous, so statements of two transactions would otherwise mix.
//   database/2. Errors that leave this file carry no parameter: TypeORM's own errors do.
//   database/3. A job runs again only as a whole, at most ATTEMPTS_MAX times, and only when the
//     database has rolled the attempt before back: it said so, or COMMIT was not sent yet. When the
//     answer to COMMIT is lost, nobody knows; then only an idempotent job runs again, and every
//     other job rejects with `unknown_outcome`.

import { reportDefect } from '#domain/defect'
import { LogMismatch } from '#domain/lane'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'
import { connectionsOf } from './connections.ts'
import type { Connections, Lent } from './connections.ts'
import type { Dialect, Failure, TransactionKind, Value } from '#src/store/dialect'
import { Gate } from './gate.ts'
import type { Executor, Source } from './executor.ts'
import { NoAnswer, Overtaken, StoreDefect, StoreError, causeOf } from '#src/store/store-error'

const ATTEMPTS_MAX = 5
const PAUSE_MS_MIN = 10
/** Milliseconds for which closing waits for a server that does not answer. */
const CLOSE_MS_MAX = 5_000

/** A job's answer when everything that it wrote must be rolled back. */
export class RolledBack<Answer> {
  readonly answer: Answer

  constructor(answer: Answer) {
    this.answer = answer
  }
}

/** Runs again from its beginning when the database rolled it back. (database/3) */
type Job<Answer> = (executor: Executor) => Promise<Answer | RolledBack<Answer>>

export interface JobTraits {
  /** True when the job, run twice, leaves the same rows and gives the same answer. (database/3) */
  readonly isIdempotent?: boolean
  /** True for jobs that go before others: turns must not wait behind a crowd of readers. */
  readonly isUrgent?: boolean
}

type Attempt<Answer> =
  | { readonly kind: 'done'; readonly answer: Answer }
  | {
      readonly kind: 'failed'
      readonly error: unknown
      readonly failure: Failure
      /** True when nobody knows whether the transaction is in force. */
      readonly isUnknown: boolean
    }

/** Timeouts, jitter between attempts, and tasks put off behind messages at hand. */
type DatabaseRuntime = Pick<Runtime, 'after' | 'random' | 'soon'>

export class Database {
  readonly dialect: Dialect
  /** Runs a task after the input at hand. */
  readonly soon: Runtime['soon']
  readonly #source: Source
  readonly #connections: Connections
  readonly #gate: Gate
  readonly #runtime: DatabaseRuntime
  readonly #retried: (by?: number) => void
  readonly #queues: (() => number)[] = []
  #isClosed = false
  #isFallback = false

  constructor(source: Source, dialect: Dialect, meter: Meter, runtime: DatabaseRuntime) {
    this.dialect = dialect
    this.#source = source
    this.#runtime = runtime
    this.#connections = connectionsOf(source, dialect, runtime)
    this.soon = runtime.soon
    this.#gate = new Gate(dialect.connections, runtime.soon) // database/1
    this.#retried = meter.counter('store_retries_total', {})
    meter.gauge('store_driver_fallback', {}, () => (this.#isFallback ? 1 : 0))
    meter.gauge('store_queue', {}, () => {
      let waiting = this.#gate.waiting
      for (const count of this.#queues) waiting += count()
      return waiting
    })
  }

  /** Adds jobs that wait in front of the gate to the metric. */
  countQueue(count: () => number): void {
    this.#queues.push(count)
  }

  /** Runs one statement, or several that need not see the same state. */
  read<Answer>(job: Job<Answer>, traits: JobTraits = {}): Promise<Answer> {
    return this.#enter('read', job, { ...traits, isIdempotent: true })
  }

  /** Returns the rows of one SELECT. */
  all<Row>(sql: string, parameters?: readonly Value[], traits?: JobTraits) {
    return this.read<readonly Row[]>((executor) => executor.all<Row>(sql, parameters), traits)
  }

  /** Returns the first row of one SELECT. */
  first<Row>(sql: string, parameters?: readonly Value[], traits?: JobTraits) {
    return this.read((executor) => executor.first<Row>(sql, parameters), traits)
  }

  /** Runs one statement durably; returns the number of changed rows. */
  change(sql: string, parameters: readonly Value[], traits?: JobTraits): Promise<number> {
    const job = async (executor: Executor): Promise<number> =>
      (await executor.run(sql, parameters)).affected
    return this.durable(job, traits)
  }

  /** Runs several statements that see one state. */
  snapshot<Answer>(job: Job<Answer>): Promise<Answer> {
    return this.#enter('snapshot', job, { isIdempotent: true })
  }

  /** Runs a transaction that its writer repeats if a power cut undoes it. */
  repeatable<Answer>(job: Job<Answer>, traits: JobTraits = {}): Promise<Answer> {
    return this.#enter('repeatable', job, traits)
  }

  /** Runs a transaction that is on the disk when this resolves. */
  durable<Answer>(job: Job<Answer>, traits: JobTraits = {}): Promise<Answer> {
    return this.#enter('durable', job, traits)
  }

  /** Runs one statement that writes; run twice, it leaves the same rows. */
  single(job: Job<void>, traits: JobTraits = {}): Promise<void> {
    return this.#enter(this.dialect.single, job, { ...traits, isIdempotent: true })
  }

  /** Tries the driver; with an unexpected one the database is slower. Called once. */
  async check(logger?: Logger): Promise<void> {
    const reason = await this.#connections.check()
    if (reason === undefined) return
    this.#isFallback = true
    logger?.warn('the driver of the database is not as expected; statements wait for each other', {
      reason,
    })
  }

  /** Closes after the waiting jobs; refuses later ones. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#gate.whenEmpty()
    const ended = this.#source.destroy()
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#runtime.after(CLOSE_MS_MAX, resolve)
      ended.then(resolve, reject).finally(cancel)
    })
  }

  async #enter<Answer>(
    kind: TransactionKind,
    job: Job<Answer>,
    traits: JobTraits,
  ): Promise<Answer> {
    if (this.#isClosed) throw new StoreError('closed', 'the database is closed')
    return this.#gate.pass(() => this.#persist(kind, job, traits), traits.isUrgent === true)
  }

  /** database/3 */
  async #persist<Answer>(
    kind: TransactionKind,
    job: Job<Answer>,
    { isIdempotent = false }: JobTraits,
  ): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const ended = await this.#attempt(kind, job)
      if (ended.kind === 'done') return ended.answer
      const { error, failure, isUnknown } = ended
      const isTransient = failure === 'taken-back' || failure === 'lost'
      const mayRepeat = isTransient && (!isUnknown || isIdempotent)
      if (!mayRepeat || attempt === ATTEMPTS_MAX || this.#isClosed) {
        const known = withoutParameters(error, this.dialect) // database/2
        throw isUnknown ? unknownOutcome(known) : known
      }
      this.#retried()
      const shortestMs = PAUSE_MS_MIN * 2 ** (attempt - 1)
      await this.#pause(shortestMs + this.#runtime.random(2 * shortestMs))
    }
  }

  async #attempt<Answer>(kind: TransactionKind, job: Job<Answer>): Promise<Attempt<Answer>> {
    let lent: Lent | undefined
    let isCommitting = false
    try {
      lent = await this.#connections.lend()
      const { executor } = lent
      const begin = this.dialect.begin[kind]
      for (const statement of begin) await executor.run(statement)
      const answer = await job(executor)
      const isUndone = answer instanceof RolledBack
      isCommitting = !isUndone && begin.length > 0 && kind !== 'snapshot'
      if (begin.length > 0) await executor.run(isUndone ? 'ROLLBACK' : 'COMMIT')
      await this.#giveBack(lent, kind)
      return { kind: 'done', answer: isUndone ? answer.answer : answer }
    } catch (error) {
      const failure = this.#failureOf(error)
      const isGone = failure === 'lost' || failure === 'silent'
      if (lent !== undefined) await this.#letGo(lent, { kind, isGone })
      return { kind: 'failed', error, failure, isUnknown: isCommitting && isGone }
    }
  }

  #failureOf(error: unknown): Failure {
    if (error instanceof NoAnswer) return 'silent'
    if (error instanceof Overtaken) return 'taken-back'
    return this.dialect.failureOf(causeOf(error))
  }

  /**
   * Rolls back. Some failures, such as a full disk, have ended the transaction already; then SQLite
   * refuses to end it again, and MySQL does nothing.
   */
  async #letGo(
    lent: Lent,
    { kind, isGone }: { readonly kind: TransactionKind; readonly isGone: boolean },
  ): Promise<void> {
    if (isGone) return lent.discard()
    if (this.dialect.begin[kind].length === 0) return lent.giveBack()
    await lent.executor.run('ROLLBACK').then(
      () => this.#giveBack(lent, kind),
      () => lent.discard(),
    )
  }

  /**
   * Returns a connection back without waiting for the last statements: the next ones follow behind
   * them.
   */
  #giveBack(lent: Lent, kind: TransactionKind): Promise<void> {
    for (const sql of this.dialect.afterwards[kind]) {
      const send = lent.executor.make({ sql, rows: 1, values: [] })
      send().catch(() => lent.discard())
    }
    return lent.giveBack()
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.#runtime.after(delayMs, resolve))
  }
}

function unknownOutcome(error: Error): StoreError {
  const cause = error instanceof StoreError ? error.code : error.name
  return new StoreError(
    'unknown_outcome',
    `the database did not say whether a transaction is in force (${cause})`,
  )
}

/** database/2: the same failure, in words that may stand in a log. */
export function withoutParameters(error: unknown, dialect: Dialect): Error {
  if (error instanceof StoreError || error instanceof LogMismatch) return error
  const cause = causeOf(error)
  const refused = dialect.describe(cause)
  if (refused !== undefined) {
    const Failed = dialect.failureOf(cause) === 'unfit' ? StoreDefect : StoreError
    return new Failed(refused.code, `the database failed: ${refused.sentence}`)
  }
  const { name, frames } = reportDefect(error)
  const defect = new StoreDefect('defect', `the store failed with ${name}`)
  defect.stack = [defect.message, ...frames].join('\n    ')
  return defect
}
