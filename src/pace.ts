// When a task runs that gathers what came before it.

import type { Timers } from './backing.ts'

type Soon = (task: () => void) => void

export interface PacePorts {
  readonly soon: Soon
  readonly timers: Timers
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number
}

/**
 * `soon` with at least `gapMs` from one task to the next: the first after a quiet time does not
 * wait, and what comes close behind it is gathered. One task at a time may be waiting.
 */
export function paced({ soon, timers, monotonicMs }: PacePorts, gapMs: number): Soon {
  let notBeforeMs = -Infinity
  return (task) => {
    const run = (): void => {
      notBeforeMs = monotonicMs() + gapMs
      task()
    }
    const delayMs = notBeforeMs - monotonicMs()
    if (delayMs <= 0) soon(run)
    else timers.after(delayMs, run)
  }
}
