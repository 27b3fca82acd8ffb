// Clocks, timers and randomness of the machine. Only the start of a process or a thread calls this.

import { randomBytes, randomInt } from 'node:crypto'

import type { Runtime } from '#domain/runtime'

/** The clocks, the timers and the random source of the platform. */
export const systemRuntime = (): Runtime => ({
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
  every: (everyMs, callback) => {
    const timer = setInterval(callback, everyMs)
    return () => clearInterval(timer)
  },
  soon: setImmediate,
  wait: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
  random: (below) => randomInt(below),
  entropy: (bytes) => randomBytes(bytes),
})
