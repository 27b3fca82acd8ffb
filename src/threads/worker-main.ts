// Thread edge: the engine, or the embedded log. Settings come from the thread that starts it.

import { parentPort, workerData } from 'node:worker_threads'

import type { ThreadControl, ThreadEdge } from '#src/runtime/engine/contract'
import { Rpc } from './rpc.ts'
import { createLog } from '#src/telemetry/log'
import type { ThreadStart } from './worker-handle.ts'

if (parentPort === null) throw new Error('this file is the start of a worker thread')
const { name, settings, peer } = workerData as ThreadStart
const rpc = new Rpc(parentPort)
const log = createLog({ level: settings.logLevel, base: { node: settings.nodeId, thread: name } })
const edge: ThreadEdge = {
  rpc,
  log,
  fail: (reason) => rpc.tell('ended', reason),
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
    const { composeEmbeddedLog } = await import('#src/runtime/standalone/log-worker')
    return composeEmbeddedLog(settings, edge)
  }
  const { composeEngine } = await import('#src/runtime/engine/start')
  return composeEngine(settings, edge)
}

try {
  rpc.serve('control', await composed())
  rpc.tell('ready', undefined)
} catch (error) {
  rpc.tell('failed', error instanceof Error ? error.message : String(error))
}
