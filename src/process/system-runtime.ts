// The machine's own time and chance. Only the edges call this: a process, a thread.

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
