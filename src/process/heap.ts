// Lets the heap of a thread follow its load.

import { getHeapStatistics } from 'node:v8'

import type { Runtime } from '#domain/runtime'

const WINDOW_MS = 5_000
/** The share of a window in which a quiet thread may have worked. */
const BUSY_MAX = 0.05
/** The least growth that is worth a collection, which takes longer the larger the heap is. */
const GROWN_RATIO_MIN = 1.25
/** Windows between two collections: one pauses the thread for 50 to 150 ms. */
const WINDOWS_MIN = 12

/** Measures a thread and returns its memory to the system. Tests replace it. */
interface Heap {
  /** The share of the time since the call before in which the thread worked. */
  readonly utilization: () => number
  /** Bytes that the heap has from the system. */
  readonly bytes: () => number
  readonly giveBack: () => Promise<void>
}

/**
 * Returns memory to the system in a quiet window of the calling thread, when its heap has grown
 * since the last time: after the start, and after a load. The young generation grows with the load,
 * and with loading the program, and V8 lets it shrink only at a collection that is to save memory;
 * a thread to which nothing happens never gets there.
 */
export function returnMemoryWhenQuiet(
  { every }: Pick<Runtime, 'every'>,
  heap: Heap = ofThisThread(),
): void {
  let kept = 0
  let windows = WINDOWS_MIN
  every(WINDOW_MS, () => {
    windows += 1
    const isQuiet = heap.utilization() <= BUSY_MAX
    if (!isQuiet || windows < WINDOWS_MIN || heap.bytes() < kept * GROWN_RATIO_MIN) return
    windows = 0
    void heap.giveBack().then(() => {
      kept = heap.bytes()
    })
  })
}

/** The heap of the calling thread. */
export function ofThisThread(): Heap {
  let before = performance.eventLoopUtilization()
  return {
    utilization: () => {
      const now = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(now, before)
      before = now
      return utilization
    },
    bytes: () => getHeapStatistics().total_physical_size,
    giveBack: async () => {
      const { Session } = process.getBuiltinModule('node:inspector/promises')
      const session = new Session()
      session.connect()
      try {
        await session.post('HeapProfiler.collectGarbage')
      } finally {
        session.disconnect()
      }
    },
  }
}
