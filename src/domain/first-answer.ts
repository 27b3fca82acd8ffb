// Waits at the start for a dependency, such as a database or NATS: logs each attempt, and gives up
// after a time.
//
// Invariants:
//   first-answer/1. A failure that waiting cannot end stops the start at once.
//   first-answer/2. Each attempt that fails is logged. Pauses between attempts grow, until the time
//     is over.

import type { Logger } from './telemetry.ts'

export interface Patience {
  /** The fact to log: which dependency did not answer. */
  readonly fact: string
  /** True for a failure that may pass. */
  readonly mayPass: (error: unknown) => boolean
  /** The reason of a failure, without secrets. */
  readonly reasonOf: (error: unknown) => string
  readonly logger: Pick<Logger, 'warn'> | undefined
  /** Calls back once after a delay. Gives a function that cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void
  /** Milliseconds after which the next failure is the last; FIRST_ANSWER_MS_MAX by default. */
  readonly boundMs?: number | undefined
}

export const FIRST_ANSWER_MS_MAX = 60_000
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 8_000

/** The first answer of several attempts; rejects with the failure of the last one. */
export async function firstAnswer<Answer>(
  attempt: () => Promise<Answer>,
  patience: Patience,
): Promise<Answer> {
  const { fact, mayPass, reasonOf, logger, after, boundMs = FIRST_ANSWER_MS_MAX } = patience
  let isOver = false
  const cancel = after(boundMs, () => (isOver = true))
  try {
    for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      try {
        return await attempt()
      } catch (error) {
        if (isOver || !mayPass(error)) throw error // first-answer/1
        logger?.warn(fact, { reason: reasonOf(error), againInMs: pauseMs }) // first-answer/2
      }
      await new Promise<void>((resolve) => void after(pauseMs, resolve))
    }
  } finally {
    cancel()
  }
}
