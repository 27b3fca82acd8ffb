// Threads that are none: everything runs in the thread that starts them, over wires in memory. With
// a runtime that a test turns by hand, a whole gateway runs step by step and each run is the same.

import type { Runtime } from '#domain/runtime'
import type { Log } from '#domain/telemetry'
import { runThread } from './run-thread.ts'
import type { Threads } from './threads.ts'
import { memoryWire } from './wire.ts'

export interface MemoryThreadsOptions {
  readonly runtime: Runtime
  readonly log: Log
}

/**
 * Ending such a thread closes its wires. Its timers run on: a runtime of its own for each process
 * lets a test stop them.
 */
export const memoryThreads = ({ runtime, log }: MemoryThreadsOptions): Threads => ({
  wire: () => memoryWire(runtime),
  spawn: (start, onEnd) => {
    const [near, far] = memoryWire(runtime)
    far.on('close', () => onEnd(new Error('the thread was ended')))
    void runThread(start, { wire: far, log, runtime })
    const terminate = async (): Promise<void> => {
      near.close()
      start.peer?.close()
    }
    return { wire: near, terminate }
  },
})
