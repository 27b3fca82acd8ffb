// Time and chance. Every stage gets these functions and none asks the platform itself, so that a
// test can set the time and choose the numbers.
//
// Invariants:
//   runtime/1. A timer takes any delay: beyond the platform's longest one it waits again.

import type { NowMs, Timers } from './ports.ts'

export interface Runtime extends Timers {
  /**
   * Milliseconds since the epoch, by a clock that an operator may set. For times that are kept or
   * sent.
   */
  readonly nowMs: NowMs
  /** Milliseconds that only grow, from an arbitrary start. For measuring and for deadlines. */
  readonly monotonicMs: () => number
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

/** Resolves once the input that has arrived is read: long work lets others in between. (W7) */
export const pause = ({ soon }: Pick<Runtime, 'soon'>): Promise<void> =>
  new Promise((resolve) => soon(resolve))

/** The longest delay of a platform's timer, in milliseconds: a longer one is over at once. */
const PLATFORM_MS_MAX = 2 ** 31 - 1

/** Timers of any delay, also an infinite one, over those of a platform. (runtime/1) */
export function ofAnyDelay(after: Runtime['after']): Runtime['after'] {
  const wait: Runtime['after'] = (delayMs, callback) => {
    if (delayMs <= PLATFORM_MS_MAX) return after(delayMs, callback)
    let cancel = after(PLATFORM_MS_MAX, () => {
      cancel = wait(delayMs - PLATFORM_MS_MAX, callback) // runtime/1
    })
    return () => cancel()
  }
  return wait
}

/** Calls back again and again, by timers that call back once. */
export const repeatedBy =
  (after: Runtime['after']): Runtime['every'] =>
  (everyMs, callback) => {
    let cancel = (): void => {}
    const arm = (): void => {
      cancel = after(everyMs, () => {
        arm()
        callback()
      })
    }
    arm()
    return () => cancel()
  }

/** The milliseconds of a unit, by its letter in durations such as `10m`; the largest first. */
export const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const
export type Unit = keyof typeof UNIT_MS
