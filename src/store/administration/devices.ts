import type { ChannelType, Device } from '#domain/device'
import type { Platform } from '#domain/push/providers'
import type { DeviceId } from '#domain/identity'
import type { DeviceStore } from '#domain/store-ports'
import { Bulk } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { DeviceRow } from '#src/store/entities/devices'
import { Group } from '#src/store/jobs/group'
import type { Executor } from '#src/store/jobs/executor'
import type { Tables } from '#src/store/entities/tables'
import { lockedDevice } from './locked.ts'
import { SeenDevices } from './seen-devices.ts'
import { hastenJobsOf } from '#src/store/pushes/delays'
import { flagChannelsOf } from '#src/store/pushes/flags'

const IDEMPOTENT = { isIdempotent: true }

type NewDevice = Omit<DeviceRow, 'sessions'>

export class Devices implements DeviceStore {
  readonly #database: Database
  readonly #created: Group<NewDevice, undefined>
  readonly #numbered: Group<DeviceId, number | undefined>
  readonly #seen: SeenDevices

  constructor(database: Database, tables: Tables) {
    this.#database = database
    const devices = Bulk.of<NewDevice>(tables.devices, { leftOut: ['sessions'] })
    this.#created = new Group(database, {
      enter: (job) => database.durable(job),
      answer: async (executor, rows) => {
        await devices.write(executor, rows)
        return rows.map(() => undefined)
      },
    })
    this.#numbered = new Group(database, {
      enter: (job) => database.repeatable(job, IDEMPOTENT),
      answer: numberSessions,
    })
    this.#seen = new SeenDevices(database)
  }

  async find(deviceId: DeviceId): Promise<Device | undefined> {
    const row = await this.#database.first<
      Pick<DeviceRow, 'platform' | 'channelType' | 'providerToken'>
    >(
      `SELECT platform, channel_type AS channelType, provider_token AS providerToken
          FROM devices WHERE device_id = ?`,
      [deviceId],
    )
    if (row === undefined) return undefined
    const { platform, channelType, providerToken } = row
    return { deviceId, platform, channelType, ...(providerToken !== null && { providerToken }) }
  }

  /**
   * The database counts sessions, so that no node's clock decides. A fleet that comes back at once
   * is numbered in few transactions.
   */
  numberSession(deviceId: DeviceId): Promise<number | undefined> {
    return this.#numbered.ask(deviceId)
  }

  create(deviceId: DeviceId, platform: Platform, nowMs: number, label?: string): Promise<void> {
    const route = { channelType: 'private', providerToken: null, routeRevision: 0 } as const
    const times = { createdAt: nowMs, seenAt: null }
    return this.#created.ask({ deviceId, platform, ...route, ...times, label: label ?? null })
  }

  async setLabel(deviceId: DeviceId, label: string): Promise<void> {
    await this.#database.durable(
      (executor) =>
        executor.run('UPDATE devices SET label = ? WHERE device_id = ?', [label, deviceId]),
      IDEMPOTENT,
    )
  }

  seen(deviceIds: readonly DeviceId[], nowMs: number): Promise<void> {
    return this.#seen.note(deviceIds, nowMs)
  }

  /** Removes a device with its subscriptions. */
  remove(deviceId: DeviceId): Promise<void> {
    return this.#database.durable(async (executor) => {
      // The lock keeps a subscription from being made in between.
      const found = await lockedDevice(executor, deviceId)
      if (found === undefined) return
      await executor.run('DELETE FROM subscriptions WHERE device = ?', [found.id])
      await executor.run('DELETE FROM devices WHERE id = ?', [found.id])
    }, IDEMPOTENT)
  }

  setRoute(
    deviceId: DeviceId,
    channelType: ChannelType,
    providerToken: string | undefined,
  ): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const former = await executor.first<{ readonly token: string | null }>(
        'SELECT provider_token AS token FROM devices WHERE device_id = ?',
        [deviceId],
      )
      const { affected } = await executor.run(
        `UPDATE devices SET channel_type = ?, provider_token = ?,
            route_revision = route_revision + 1
          WHERE device_id = ?`,
        [channelType, providerToken ?? null, deviceId],
      )
      if (affected === 1 && channelType !== 'private') {
        await flagChannelsOf(executor, deviceId)
        // An app sets its token at each start: the same one has been refused.
        if (former?.token !== providerToken) await hastenJobsOf(executor, deviceId)
      }
      return affected === 1
    }, IDEMPOTENT)
  }

  async retireToken(platform: Platform, providerToken: string): Promise<void> {
    await this.#database.change(
      `UPDATE devices SET channel_type = 'private', provider_token = NULL,
          route_revision = route_revision + 1
        WHERE provider_token = ? AND platform = ?`,
      [providerToken, platform],
      IDEMPOTENT,
    )
  }
}

/**
 * One number for each of these devices, greater than all before; undefined for unknown ones. A
 * device that is there twice gets one number after the other. Rows are locked in the order of their
 * keys, so that two nodes do not wait for each other.
 */
async function numberSessions(
  executor: Executor,
  deviceIds: readonly DeviceId[],
): Promise<readonly (number | undefined)[]> {
  const numbers = new Map<DeviceId, number | undefined>()
  const times = Map.groupBy(deviceIds, (deviceId) => deviceId)
  for (const deviceId of [...times.keys()].toSorted()) {
    const { length } = times.get(deviceId) ?? []
    await executor.run('UPDATE devices SET sessions = sessions + ? WHERE device_id = ?', [
      length,
      deviceId,
    ])
    const row = await executor.first<Pick<DeviceRow, 'sessions'>>(
      'SELECT sessions FROM devices WHERE device_id = ?',
      [deviceId],
    )
    numbers.set(deviceId, row === undefined ? undefined : row.sessions - length)
  }
  return deviceIds.map((deviceId) => {
    const before = numbers.get(deviceId)
    if (before === undefined) return undefined
    numbers.set(deviceId, before + 1)
    return before + 1
  })
}
