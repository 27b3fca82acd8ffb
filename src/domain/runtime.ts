// Time and chance. Every stage gets these functions and none asks the platform itself, so that a
// test can set the time and choose the numbers.

export interface Runtime {
  /**
   * Milliseconds since the epoch, by a clock that an operator may set. For times that are kept or
   * sent.
   */
  readonly nowMs: () => number
  /** Milliseconds that only grow, from an arbitrary start. For measuring and for deadlines. */
  readonly monotonicMs: () => number
  /** Calls back once after a delay. Gives a function that cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void
  /** Calls back repeatedly, first after `everyMs`. Gives a function that cancels it. */
  readonly every: (everyMs: number, callback: () => void) => () => void
  /** Runs a task once the input that has arrived is read, in the order of the calls. */
  readonly soon: (task: () => void) => void
  /** Resolves after a delay. */
  readonly wait: (delayMs: number) => Promise<void>
  /** A whole number from 0 up to, without, `below`, which is 2 ** 32 at most. For jitter. */
  readonly random: (below: number) => number
  /** Unguessable random bytes. For ids, keys and salts. */
  readonly entropy: (bytes: number) => Buffer
}
