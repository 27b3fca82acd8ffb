// Edge of a thread: starts in a worker thread, with settings from the thread that started it.

import { parentPort, workerData } from 'node:worker_threads'

import { returnMemoryWhenQuiet } from './heap.ts'
import { systemRuntime } from './system-runtime.ts'
import { createLogger } from '#src/telemetry/logger'
import { THREAD_TITLE } from '#src/runtime/threads/contract'
import { runThread } from '#src/runtime/threads/run-thread'
import type { ThreadStart } from '#src/runtime/threads/threads'
import { workerThreads } from './worker-threads.ts'

if (parentPort === null) throw new Error('this file is the start of a worker thread')
const start = workerData as ThreadStart
const { nodeId, logLevel } = start.settings
const logger = createLogger({
  level: logLevel,
  base: { node: nodeId, thread: THREAD_TITLE[start.name] },
})
const runtime = systemRuntime()
await runThread(start, { wire: parentPort, logger, runtime, threads: workerThreads() })
returnMemoryWhenQuiet(runtime)
