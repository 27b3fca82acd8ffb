// Runs threads inside the thread that starts them, over wires in memory. With a runtime that a test
// controls, a whole gateway runs step by step, and each run is the same.

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import type { Servers } from '#src/runtime/threads/servers'
import { runThread } from '#src/runtime/threads/run-thread'
import type { Threads } from '#src/runtime/threads/threads'
import { memoryWire } from '#test/support/memory-wire'

export interface MemoryThreadsOptions {
  readonly runtime: Runtime
  readonly logger: Logger
  /** Absent for files and the network. */
  readonly servers?: Servers | undefined
}

/**
 * `terminate` closes the wires of such a thread. Its timers run on; a test that gives each process
 * its own runtime can stop them.
 */
export function memoryThreads({ runtime, logger, servers }: MemoryThreadsOptions): Threads {
  const threads: Threads = {
    wire: () => memoryWire(runtime),
    spawn: (start, onEnd) => {
      const [near, far] = memoryWire(runtime)
      far.on('close', () => onEnd(new Error('the thread was ended')))
      void runThread(start, { wire: far, logger, runtime, threads, servers })
      const terminate = async (): Promise<void> => {
        near.close()
        start.peer?.close()
      }
      return { wire: near, terminate }
    },
  }
  return threads
}
