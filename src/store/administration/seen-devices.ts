// Remembers to the day when devices were last seen: each is written once in SEEN_EVERY_MS at most.
// Devices that come while the database works on others are written together afterwards.

import type { DeviceId } from '#domain/identity'
import type { Numbered } from '#src/store/dialect'
import type { DeviceRow } from '#src/store/entities/devices'
import { allIn, changeById } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'

/** Less than a day, so that a device that comes daily is written daily. */
const SEEN_EVERY_MS = 20 * 3_600_000
/** Devices that wait at most. Beyond it a device is left out until it comes again. */
const WAITING_MAX = 100_000
const AT_ONCE_MAX = 1_000

export class SeenDevices {
  readonly #database: Database
  readonly #waiting = new Map<DeviceId, number>()
  #isWriting = false

  constructor(database: Database) {
    this.#database = database
    database.countQueue(() => this.#waiting.size)
  }

  /**
   * Notes that these devices are here now. Resolves when all waiting ones are written, or cannot
   * be.
   */
  async note(deviceIds: readonly DeviceId[], nowMs: number): Promise<void> {
    for (const deviceId of deviceIds) {
      if (this.#waiting.size < WAITING_MAX) this.#waiting.set(deviceId, nowMs)
    }
    if (this.#isWriting) return
    this.#isWriting = true
    try {
      while (this.#waiting.size > 0) await this.#writeSome()
    } finally {
      this.#isWriting = false
    }
  }

  async #writeSome(): Promise<void> {
    const some = [...this.#waiting].slice(0, AT_ONCE_MAX)
    for (const [deviceId] of some) this.#waiting.delete(deviceId)
    const nowMs = Math.max(...some.map(([, seenAt]) => seenAt))
    const ids = some.map(([deviceId]) => deviceId)
    const due = await this.#database.read((executor) => dueAmong(executor, ids, nowMs))
    if (due.length === 0) return
    await this.#database.repeatable((executor) => write(executor, due, nowMs), {
      isIdempotent: true,
    })
  }
}

/**
 * The devices to write, by their ids in the store. A device that never subscribed is not among
 * them. (idle/1)
 */
async function dueAmong(
  executor: Executor,
  deviceIds: readonly DeviceId[],
  nowMs: number,
): Promise<readonly Numbered[]> {
  const rows = await allIn<Numbered & Pick<DeviceRow, 'seenAt'>>(
    executor,
    deviceIds,
    (list) => `SELECT id, seen_at AS seenAt FROM devices WHERE device_id IN (${list})`,
  )
  return rows.filter(({ seenAt }) => seenAt !== null && seenAt <= nowMs - SEEN_EVERY_MS)
}

/** Writes in the order of rows, in which every process locks them. */
async function write(
  executor: Executor,
  devices: readonly Numbered[],
  nowMs: number,
): Promise<void> {
  const inOrder = devices.toSorted((one, other) => one.id - other.id)
  await changeById(executor, inOrder, 'UPDATE devices SET seen_at = ?', [nowMs])
}
