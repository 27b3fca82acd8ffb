// Keeps a device with a long queue from taking the room of others: a worker holds a bounded number
// of pushes, and a device gets one after the other.
//
// Invariants:
//   long-queues/1. Of a device, a worker claims among the first CLAIMED_MAX jobs. A later one waits
//                  longer the more jobs are before it, but not longer than a device takes that gets
//                  PACE pushes a second: so its turn finds it due, and claims rarely find it early.

import type { Executor } from '#src/store/jobs/executor'

const CLAIMED_MAX = 100
/** Pushes of one device a second, when the provider takes fifty milliseconds for each. */
const PACE = 20
/** Numbers of jobs before a job from which on it waits longer. Each claim counts up to the last. */
const STEPS = [CLAIMED_MAX, 10 * CLAIMED_MAX]

/** A job's place in the queue of its device, roughly. */
interface LongQueues {
  /** Milliseconds for which a job waits behind others of its device; 0 for the first ones. */
  waitMs(job: { readonly device: number; readonly id: number }): number
}

/** Looks the queues of devices up. Most are short, and their look costs one row of an index. */
export async function longQueues(
  executor: Executor,
  devices: readonly number[],
): Promise<LongQueues> {
  const { dialect } = executor
  const starts = new Map<number, number[]>()
  let longer = devices
  for (const step of STEPS) {
    if (longer.length === 0) break
    const rows = await executor.all<{ readonly device: number; readonly id: number | null }>(
      `SELECT k.device, (
          SELECT e.id FROM push_jobs e${dialect.byIndex('push_jobs_by_device')}
          WHERE e.device = k.device AND e.state = 'waiting'
          ORDER BY e.id LIMIT 1 OFFSET ?) AS id
        FROM ${dialect.keys('k', { device: 'integer' })}`,
      [step, JSON.stringify(longer.map((device) => [device]))],
    )
    longer = rows.flatMap(({ device, id }) => {
      if (id === null) return []
      starts.set(device, [...(starts.get(device) ?? []), id])
      return [device]
    })
  }
  return {
    waitMs: ({ device, id }) => {
      const passed = starts.get(device)?.findLastIndex((start) => id >= start) ?? -1
      return ((STEPS[passed] ?? 0) * 1_000) / PACE
    },
  }
}
