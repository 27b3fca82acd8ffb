// The parts of a runtime that follow from its timers and random numbers, for those of tests.

import type { Runtime } from '#domain/runtime'

export type Derived = Pick<Runtime, 'every' | 'wait' | 'entropy'>

/** Makes the rest of a runtime from its timers and random numbers. */
export const derivedFrom = ({ after, random }: Pick<Runtime, 'after' | 'random'>): Derived => ({
  every: (everyMs, callback) => {
    let cancel = (): void => {}
    const arm = (): void => {
      cancel = after(everyMs, () => {
        arm()
        callback()
      })
    }
    arm()
    return () => cancel()
  },
  wait: (delayMs) => new Promise((resolve) => void after(delayMs, resolve)),
  entropy: (bytes) => Buffer.from(Uint8Array.from({ length: bytes }, () => random(256))),
})
