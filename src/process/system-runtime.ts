// Clocks, timers and randomness of the machine. Only the start of a process or a thread calls this.

import { randomBytes, randomInt } from 'node:crypto'

import { ofAnyDelay, repeatedBy } from '#domain/runtime'
import type { Runtime } from '#domain/runtime'

/** Calls back once after a delay. Gives a function that cancels it. */
const systemTimer = ofAnyDelay((delayMs, callback) => {
  const timer = setTimeout(callback, delayMs)
  return () => clearTimeout(timer)
})

/** The clocks, the timers and the random source of the platform. */
export const systemRuntime = (): Runtime => ({
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  after: systemTimer,
  every: repeatedBy(systemTimer),
  soon: setImmediate,
  wait: (delayMs) => new Promise((resolve) => void systemTimer(delayMs, resolve)),
  random: (below) => randomInt(below),
  entropy: (bytes) => randomBytes(bytes),
})
