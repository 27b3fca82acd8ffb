// Sends the submissions of a fleet: many of them over few connections.
//
//   send ─▶ queue, by Thing ─▶ in flight, one a connection ─▶ outcome
//                  ▲                     └── busy, lost ──▶ pause, the same one first
//
// Invariants:
//   fleet/1. Submissions that name the same Thing or Event are in flight one after another.
//   fleet/2. Every submission that `send` took gets exactly one outcome.
//   fleet/3. At most `queue` submissions wait or are in flight: `send` waits for room.
//   fleet/4. The sender pauses while the gateway is busy. After a lost connection it sends one
//     submission at a time until one gets an answer. Pauses grow, are random and never shorter than
//     Retry-After.
//   fleet/5. The sender tries a submission at most `attempts` times.

import { createClient } from './client.ts'
import type { Client, ClientOptions } from './client.ts'
import { HeliographError } from './error.ts'
import {
  FleetQueue,
  leavesOpen,
  verdictOn,
  orderKeyOf,
  repeatable,
  submitOnce,
} from './fleet-queue.ts'
import type { Taken, FleetAccepted, FleetSubmission } from './fleet-queue.ts'
import { WEB, backoffMs } from './runtime.ts'
import type { ClientRuntime } from './runtime.ts'

export interface FleetOptions<Tag = unknown> extends ClientOptions {
  /** Requests at a time, each on a lasting connection: 1 to 256. */
  readonly connections?: number
  /** Submissions that may wait or be in flight before `send` waits. */
  readonly queue?: number
  /** The most tries of one submission while the gateway is busy or away. */
  readonly attempts?: number
  /**
   * Repeats Thing updates with an unknown outcome. The same values with the same observed_at have
   * no second effect unless another sender set other values with the very same time in between.
   */
  readonly repeatsUpdates?: boolean
  /** Called once for each submission. Errors that it throws become uncaught errors. */
  readonly onOutcome?: (outcome: FleetOutcome<Tag>) => void
}

export type FleetOutcome<Tag = unknown> = { readonly submission: FleetSubmission<Tag> } & (
  | { readonly kind: 'accepted'; readonly ids: FleetAccepted }
  | { readonly kind: 'refused'; readonly error: HeliographError }
  /** The gateway may have it or not, and a repeat might have a second effect. */
  | { readonly kind: 'unknown'; readonly error: HeliographError }
  /** `stop` came before its turn. */
  | { readonly kind: 'unsent' }
)

/** Counts since the start, and the numbers of submissions that wait and are in flight now. */
export interface FleetProgress {
  readonly waiting: number
  readonly inFlight: number
  readonly accepted: number
  readonly refused: number
  readonly unknown: number
  readonly unsent: number
  /** Tries beyond the first. */
  readonly repeated: number
}

export interface FleetSender<Tag = unknown> {
  readonly progress: FleetProgress
  /**
   * Resolves once the submission has a place in the queue. A Message without an op_id gets one.
   * Rejects after `stop`.
   */
  send(submission: FleetSubmission<Tag>): Promise<void>
  /** Resolves once every earlier submission has its outcome. */
  flush(): Promise<void>
  /** Aborts the requests in flight; waiting submissions are `unsent`. */
  stop(): Promise<void>
}

const BACKOFF = { firstMs: 500, maxMs: 30_000 }

/** A sender over one gateway. Throws RangeError for a number of connections beyond its bounds. */
export function createFleetSender<Tag = unknown>(options: FleetOptions<Tag>): FleetSender<Tag> {
  const { connections = 8 } = options
  if (!Number.isInteger(connections) || connections < 1 || connections > 256) {
    throw new RangeError('connections must be a whole number from 1 to 256')
  }
  return new Sender(options, connections)
}

interface Item<Tag> {
  readonly submission: FleetSubmission<Tag>
  attempts: number
  /** True when a try may have reached the gateway. */
  isOpen: boolean
}

interface Pause {
  readonly delayMs: number
  readonly cancel: () => void
}

class Sender<Tag> implements FleetSender<Tag> {
  readonly #options: FleetOptions<Tag>
  readonly #client: Client
  readonly #runtime: ClientRuntime
  readonly #connections: number
  readonly #queue = new FleetQueue<Item<Tag>>()
  readonly #stopped = new AbortController()
  readonly #counts = { accepted: 0, refused: 0, unknown: 0, unsent: 0, repeated: 0 }
  /** Callers of `send` that wait for room, and of `flush` that wait for the end. */
  readonly #forRoom: (() => void)[] = []
  #forEnd: (() => void)[] = []
  #inFlight = 0
  #failures = 0
  #pause: Pause | undefined

  constructor(options: FleetOptions<Tag>, connections: number) {
    this.#options = options
    this.#connections = connections
    this.#runtime = options.runtime ?? WEB
    this.#client = createClient(options)
  }

  get progress(): FleetProgress {
    return { waiting: this.#queue.size, inFlight: this.#inFlight, ...this.#counts }
  }

  async send(submission: FleetSubmission<Tag>): Promise<void> {
    const { queue = 1_000 } = this.#options
    while (this.#held >= queue && !this.#stopped.signal.aborted) {
      await new Promise<void>((resolve) => void this.#forRoom.push(resolve)) // fleet/3
    }
    if (this.#stopped.signal.aborted) throw new Error('the sender was stopped')
    const safe = repeatable(submission, () => this.#makeOpId())
    this.#queue.add(orderKeyOf(safe), { submission: safe, attempts: 0, isOpen: false })
    this.#sendNext()
  }

  async flush(): Promise<void> {
    if (this.#held > 0) await new Promise<void>((resolve) => void this.#forEnd.push(resolve))
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new Error('the sender was stopped'))
    for (const { submission } of this.#queue.clear()) this.#report({ submission, kind: 'unsent' })
    for (const resolve of this.#forRoom.splice(0)) resolve()
    this.#endPause()
    await this.flush()
  }

  get #held(): number {
    return this.#queue.size + this.#inFlight
  }

  /** Sends the next submissions, as many as may be in flight now. (fleet/1, fleet/4) */
  #sendNext(): void {
    const atOnce = this.#failures > 0 ? 1 : this.#connections
    while (this.#pause === undefined && this.#inFlight < atOnce) {
      const taken = this.#queue.take()
      if (taken === undefined) return
      this.#inFlight += 1
      void this.#submit(taken)
    }
  }

  async #submit(taken: Taken<Item<Tag>>): Promise<void> {
    const { submission } = taken.item
    taken.item.attempts += 1
    if (taken.item.attempts > 1) this.#counts.repeated += 1
    try {
      const ids = await submitOnce(this.#client, submission)
      this.#failures = 0
      this.#settle(taken, { submission, kind: 'accepted', ids })
    } catch (error) {
      if (error instanceof HeliographError) this.#failed(taken, error)
      else this.#settle(taken, { submission, kind: 'refused', error: unusable() })
    }
    this.#sendNext()
  }

  #failed(taken: Taken<Item<Tag>>, error: HeliographError): void {
    const { item } = taken
    const { submission } = item
    item.isOpen ||= leavesOpen(error)
    if (error.status === 0 || error.retryable) this.#pauseFor(error)
    else this.#failures = 0
    const verdict = verdictOn(submission, error, this.#options.repeatsUpdates === true)
    const isLast = item.attempts >= (this.#options.attempts ?? 10) // fleet/5
    if (verdict !== 'again') this.#settle(taken, { submission, kind: verdict, error })
    else if (isLast || this.#stopped.signal.aborted) {
      const kind = item.isOpen ? 'unknown' : 'refused'
      this.#settle(taken, { submission, kind, error })
    } else this.#putBack(taken)
  }

  /** Pauses; of two overlapping pauses the longer one counts. (fleet/4) */
  #pauseFor({ retryAfterMs = 0 }: HeliographError): void {
    if (this.#stopped.signal.aborted) return
    // Requests that fail together count as one failure.
    if (this.#pause === undefined) this.#failures += 1
    const delayMs = retryAfterMs + backoffMs(this.#runtime, this.#failures - 1, BACKOFF)
    if (this.#pause !== undefined && this.#pause.delayMs >= delayMs) return
    this.#pause?.cancel()
    const cancel = this.#runtime.after(delayMs, () => {
      this.#pause = undefined
      this.#sendNext()
    })
    this.#pause = { delayMs, cancel }
  }

  #endPause(): void {
    this.#pause?.cancel()
    this.#pause = undefined
  }

  #putBack(taken: Taken<Item<Tag>>): void {
    this.#inFlight -= 1
    this.#queue.putBack(taken)
  }

  #settle(taken: Taken<Item<Tag>>, outcome: FleetOutcome<Tag>): void {
    this.#inFlight -= 1
    this.#queue.release(taken)
    this.#report(outcome)
    this.#forRoom.shift()?.()
    if (this.#held === 0) for (const resolve of this.#forEnd.splice(0)) resolve()
  }

  /** Returns the caller an outcome. (fleet/2) */
  #report(outcome: FleetOutcome<Tag>): void {
    this.#counts[outcome.kind] += 1
    try {
      this.#options.onOutcome?.(outcome)
    } catch (error) {
      this.#runtime.report(error)
    }
  }

  #makeOpId(): string {
    const digits = (): string =>
      this.#runtime
        .random(2 ** 32)
        .toString(16)
        .padStart(8, '0')
    return `fleet-${digits()}${digits()}${digits()}${digits()}`
  }
}

const unusable = (): HeliographError =>
  new HeliographError('the submission cannot be written as JSON', {
    code: 'body_invalid',
    status: 0,
    retryable: false,
  })
