// Returns the entries of a device as an async iterator.
//
// Invariants:
//   deliveries/1. An entry is handled once the loop asks for the next one. The entry at which the
//     loop ends, by `break` or an error, is not acknowledged: a later session brings it again.
//   deliveries/2. At most one entry waits here: the gateway's window bounds the rest.

import type { Delivery } from '#src/schemas/frames'
import { HeliographError } from './error.ts'
import type { Handlers } from './intake.ts'
import { watch } from './watch.ts'
import type { DeviceOptions, Watch } from './watch.ts'

export type DeliveriesOptions = DeviceOptions & Omit<Handlers, 'onEntry'>

/**
 * The entries of each channel in their order. The loop ends when its caller leaves it or closes the
 * watch. It throws HeliographError when the gateway refuses the device (`device_key_not_found`,
 * `authentication_failed`) or a newer session took over (`session_replaced`), and the error of the
 * position store when the store could not be read.
 */
export interface Deliveries extends AsyncIterableIterator<Delivery> {
  /** The session; `close` of the deliveries ends it. */
  readonly watch: Omit<Watch, 'close'>
  /** Ends the loop at its next step, which acknowledges the entry that the loop has. */
  close(): void
}

/** Opens the session of a device, keeps it, and gives its entries one by one. */
export const deliveries = (options: DeliveriesOptions): Deliveries => new Loop(options)

type Result = IteratorResult<Delivery, undefined>

/** An entry whose handler waits for the loop. */
interface Offered {
  readonly delivery: Delivery
  readonly handled: () => void
  readonly abandon: (error: Error) => void
}

class Loop implements Deliveries {
  readonly watch: Watch
  #offered: Offered | undefined
  #isGiven = false
  #isOver = false
  #asked: PromiseWithResolvers<Result> | undefined
  #tail: Promise<unknown> = Promise.resolve()

  constructor(options: DeliveriesOptions) {
    this.watch = watch({ ...options, onEntry: (delivery) => this.#offer(delivery) })
    void this.watch.ended.then(() => this.#finish())
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Answers calls that overlap in their order. */
  next(): Promise<Result> {
    const result = this.#tail.then(() => this.#next())
    this.#tail = result.catch(() => {})
    return result
  }

  close(): void {
    void this.watch.close()
    if (!this.#isGiven) this.#offered?.abandon(new Error('the loop was closed'))
  }

  async return(): Promise<Result> {
    this.#offered?.abandon(new Error('the loop was left')) // deliveries/1
    await this.watch.close()
    return END
  }

  #next(): Promise<Result> {
    if (this.#isGiven) {
      this.#offered?.handled() // deliveries/1
      this.#offered = undefined
      this.#isGiven = false
    }
    this.#asked = Promise.withResolvers<Result>()
    const { promise } = this.#asked
    if (this.#isOver) this.#finish()
    else this.#give()
    return promise
  }

  #offer(delivery: Delivery): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#offered = { delivery, handled: resolve, abandon: reject } // deliveries/2
    this.#isGiven = false
    this.#give()
    return promise
  }

  #give(): void {
    if (this.#offered === undefined || this.#isGiven || this.#asked === undefined) return
    this.#isGiven = true
    this.#asked.resolve({ done: false, value: this.#offered.delivery })
    this.#asked = undefined
  }

  #finish(): void {
    this.#isOver = true
    const asked = this.#asked
    this.#asked = undefined
    if (asked === undefined) return
    void this.watch.ended.then((end) => {
      if (end.kind === 'closed') asked.resolve(END)
      else asked.reject(end.kind === 'replaced' ? replaced() : end.error)
    })
  }
}

const END: Result = { done: true, value: undefined }

const replaced = (): HeliographError =>
  new HeliographError('a newer session of the device took over', {
    code: 'session_replaced',
    status: 0,
    retryable: false,
  })
