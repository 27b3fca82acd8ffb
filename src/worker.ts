// Thread edge: the engine, or the embedded log. Settings come from the thread that starts it.

import { parentPort, workerData } from 'node:worker_threads'

import type { ThreadControl, ThreadEdge } from './engine.ts'
import { Link } from './link.ts'
import { createLog } from './telemetry/log.ts'
import type { ThreadStart } from './thread.ts'

if (parentPort === null) throw new Error('this file is the start of a worker thread')
const { name, settings, peer } = workerData as ThreadStart
const link = new Link(parentPort)
const log = createLog({ level: settings.logLevel, base: { node: settings.nodeId, thread: name } })
const edge: ThreadEdge = {
  link,
  log,
  fail: (reason) => link.tell('ended', reason),
  ...(peer !== undefined && { peer }),
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  soon: setImmediate,
  wait: (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs)),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
// Each thread loads only what it runs.
async function composed(): Promise<ThreadControl> {
  if (name === 'log') {
    const { composeEmbeddedLog } = await import('./embedded-log.ts')
    return composeEmbeddedLog(settings, edge)
  }
  const { composeEngine } = await import('./engine.ts')
  return composeEngine(settings, edge)
}

try {
  link.serve('control', await composed())
  link.tell('ready', undefined)
} catch (error) {
  link.tell('failed', error instanceof Error ? error.message : String(error))
}
