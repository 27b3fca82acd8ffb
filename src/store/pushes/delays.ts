// Jobs that are put off, by the time at which they are due again.

import type { DeviceId } from '#domain/identity'
import type { PushState } from '#src/store/entities/pushes'
import type { Numbered } from '#src/store/dialect'
import { changeById, changeIn } from '#src/store/statements/bulk'
import type { Executor } from '#src/store/jobs/executor'

/** Milliseconds until a job that waits for another worker's job is tried again, at least. */
export const PUT_OFF_MS = 100

/** Jobs of one device and state that a new route makes due. (W7) */
const HASTENED_MAX = 1_000

/** Makes jobs of a device due that were put off: its new route has not failed. */
export async function hastenJobsOf(executor: Executor, deviceId: DeviceId): Promise<void> {
  for (const state of ['deferred', 'waiting'] satisfies readonly PushState[]) {
    const jobs = await executor.all<Numbered>(
      `SELECT j.id FROM devices d
        CROSS JOIN push_jobs j${executor.dialect.byIndex('push_jobs_by_device')}
          ON j.device = d.id AND j.state = ? AND j.claim = ''
        WHERE d.device_id = ? ORDER BY j.id LIMIT ${HASTENED_MAX}`,
      [state, deviceId],
    )
    await changeIn(
      executor,
      jobs.map(({ id }) => id),
      (list) => `UPDATE push_jobs SET due_at = queued_at WHERE id IN (${list}) AND claim = ''`,
    )
  }
}

export class Delays {
  readonly #ids = new Map<number, Numbered[]>()

  add(id: number, untilMs: number): void {
    const ids = this.#ids.get(untilMs)
    if (ids === undefined) this.#ids.set(untilMs, [{ id }])
    else ids.push({ id })
  }

  /** Writes the times; the jobs are nobody's until then. */
  async putOff(executor: Executor): Promise<void> {
    for (const [untilMs, ids] of this.#ids) {
      const change = `UPDATE push_jobs SET due_at = ?, claim = ''`
      await changeById(executor, ids, change, [untilMs])
    }
  }
}
