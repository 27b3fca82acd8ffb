// The parts of a runtime that follow from its timers and random numbers, for those of tests.

import { repeatedBy } from '#domain/runtime'
import type { Runtime } from '#domain/runtime'

export type Derived = Pick<Runtime, 'every' | 'wait' | 'entropy'>

/** Makes the rest of a runtime from its timers and random numbers. */
export const derivedFrom = ({ after, random }: Pick<Runtime, 'after' | 'random'>): Derived => ({
  every: repeatedBy(after),
  wait: (delayMs) => new Promise((resolve) => void after(delayMs, resolve)),
  entropy: (bytes) => Buffer.from(Uint8Array.from({ length: bytes }, () => random(256))),
})
