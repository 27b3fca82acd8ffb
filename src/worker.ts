// Thread edge: the engine's thread. Its settings come from the thread that starts it.

import { parentPort, workerData } from 'node:worker_threads'

import { startEngine } from './engine.ts'
import type { EngineSettings } from './engine.ts'
import { Link } from './link.ts'
import { createLog } from './telemetry/log.ts'

if (parentPort === null) throw new Error('this file is the start of a worker thread')
const settings = workerData as EngineSettings
const log = createLog({
  level: settings.logLevel,
  base: { node: settings.nodeId, thread: 'engine' },
})
await startEngine(settings, {
  link: new Link(parentPort),
  log,
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  soon: setImmediate,
  wait: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
})
