// The subscriptions of devices to channels, with the acknowledged positions.
//
// Invariants:
//   subscriptions/1. At most SUBSCRIBERS_MAX devices follow a channel: the count and the new row
//     share a transaction that has the channel for itself.
//   subscriptions/2. A device with a provider's route subscribes between two turns of the channel:
//     the turn before makes no job for it, the turn after does. (making/1)
//   subscriptions/3. Of those places SUBSCRIBED_OF_KEYS_MAX at most are for kept MQTT sessions that
//     keys made, and SUBSCRIBED_OF_KEY_MAX for those of one key. A session that is over gets none,
//     and gives its own to whoever needs it.

import type { NamedDevice, Subscriber } from '#domain/administration'
import { SUBSCRIBERS_MAX } from '#domain/channel'
import { SUBSCRIBED_OF_KEYS_MAX, SUBSCRIBED_OF_KEY_MAX } from '#domain/mqtt/sessions'
import type { ChannelType } from '#domain/device'
import type { Acknowledgement, Position } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Preferences } from '#domain/push/preferences'
import type { Subscribed, SubscriptionStore } from '#domain/store-ports'
import { Acknowledgements } from '#src/store/feed/acknowledgements'
import type { AckedEntry } from '#src/store/feed/acknowledgements'
import { Bulk } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import type { Numbered } from '#src/store/dialect'
import type { DeviceRow, SubscriptionRow } from '#src/store/entities/devices'
import { USED_SINCE } from '#src/store/retention/idle'
import type { Tables } from '#src/store/entities/tables'
import { flagChannel } from '#src/store/pushes/flags'

const POSITION = `SELECT c.channel_id AS channelId, c.name AS channelName, h.head_seq AS headSeq,
    s.since_seq AS sinceSeq, s.acked_seq AS ackedSeq
  FROM devices d
  JOIN subscriptions s ON s.device = d.id
  JOIN channels c ON c.id = s.channel
  JOIN channel_heads h ON h.channel = c.id
  WHERE d.device_id = ?`

/** The condition for one subscription; its parameters are the public ids of channel and device. */
const ONE = `channel = (SELECT id FROM channels WHERE channel_id = ?)
  AND device = (SELECT id FROM devices WHERE device_id = ?)`

interface Subscribing {
  readonly device: number
  readonly channelType: ChannelType
  readonly held: number
  /** The key that made the device as an MQTT session; null for any other device. */
  readonly keyId: string | null
  readonly expiresAt: number | null
}

export class Subscriptions implements SubscriptionStore {
  readonly #database: Database
  readonly #subscriptions: Bulk<SubscriptionRow>
  readonly #acknowledgements: Acknowledgements

  constructor(database: Database, tables: Tables) {
    this.#database = database
    this.#subscriptions = Bulk.of(tables.subscriptions)
    this.#acknowledgements = new Acknowledgements(database, tables)
  }

  subscribe(
    deviceId: DeviceId,
    channelId: ChannelId,
    nowMs: number,
    notify?: Preferences,
  ): Promise<Subscribed> {
    return this.#database.durable<Subscribed>(async (executor) => {
      const found = await lockChannel(executor, channelId)
      if (found === undefined) return { kind: 'no-channel' }
      const { channel, channelName, headSeq } = found
      const state = await executor.first<Subscribing>(
        `SELECT d.id AS device, d.channel_type AS channelType,
            (SELECT count(*) FROM subscriptions WHERE channel = ? AND device = d.id) AS held,
            (SELECT key_id FROM mqtt_sessions WHERE device = d.id) AS keyId,
            (SELECT expires_at FROM mqtt_sessions WHERE device = d.id) AS expiresAt
          FROM devices d WHERE d.device_id = ?${executor.dialect.forUpdate}`,
        [channel, deviceId],
      )
      if (state === undefined) return { kind: 'no-device' }
      const { device, held, keyId, expiresAt } = state
      if ((expiresAt ?? Infinity) <= nowMs) return { kind: 'no-device' } // subscriptions/3
      if (held > 0) {
        if (notify !== undefined) await prefer(executor, [channelId, deviceId], notify)
        return { kind: 'subscribed', channelName, isNew: false }
      }
      if (!(await hasRoom(executor, channel, keyId ?? ''))) {
        await removeEnded(executor, channel, nowMs)
        if (!(await hasRoom(executor, channel, keyId ?? ''))) return { kind: 'full' }
      }
      const isPushed = state.channelType !== 'private'
      const sinceSeq = isPushed ? await flagChannel(executor, channel) : headSeq // subscriptions/2
      const start = {
        sinceSeq,
        ackedSeq: 0,
        ackedAhead: '[]',
        createdAt: nowMs,
        notify: textOf(notify),
      }
      await this.#subscriptions.write(executor, [{ channel, device, ...start }])
      // idle/1 and idle/2
      await executor.run('UPDATE devices SET seen_at = ? WHERE id = ?', [nowMs, device])
      await executor.run('UPDATE channels SET used_seq = ? WHERE id = ?', [USED_SINCE, channel])
      return { kind: 'subscribed', channelName, isNew: true }
    })
  }

  unsubscribe(deviceId: DeviceId, channelId: ChannelId, nowMs: number): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      await markSeen(executor, deviceId, nowMs)
      const { affected } = await executor.run(`DELETE FROM subscriptions WHERE ${ONE}`, [
        channelId,
        deviceId,
      ])
      return affected === 1
    })
  }

  keepOnly(
    deviceId: DeviceId,
    channelIds: readonly ChannelId[],
    nowMs: number,
  ): Promise<readonly ChannelId[]> {
    const kept = new Set(channelIds)
    return this.#database.durable(async (executor) => {
      await markSeen(executor, deviceId, nowMs)
      const held = await executor.all<{ channel: number; device: number; channelId: ChannelId }>(
        `SELECT s.channel, s.device, c.channel_id AS channelId
          FROM devices d
          JOIN subscriptions s ON s.device = d.id
          JOIN channels c ON c.id = s.channel
          WHERE d.device_id = ? ORDER BY c.channel_id`,
        [deviceId],
      )
      const left = held.filter(({ channelId }) => !kept.has(channelId))
      for (const { channel, device } of left) {
        await executor.run('DELETE FROM subscriptions WHERE channel = ? AND device = ?', [
          channel,
          device,
        ])
      }
      return left.map(({ channelId }) => channelId)
    })
  }

  setPreferences(deviceId: DeviceId, channelId: ChannelId, notify: Preferences): Promise<boolean> {
    return this.#database.durable((executor) => prefer(executor, [channelId, deviceId], notify))
  }

  async preferences(deviceId: DeviceId, channelId: ChannelId): Promise<Preferences | undefined> {
    const row = await this.#database.first<Pick<SubscriptionRow, 'notify'>>(
      `SELECT notify FROM subscriptions WHERE ${ONE}`,
      [channelId, deviceId],
    )
    return row && (JSON.parse(row.notify ?? '{}') as Preferences)
  }

  async subscribed(deviceId: DeviceId, channelId: ChannelId): Promise<NamedDevice | undefined> {
    const row = await this.#database.first<Pick<DeviceRow, 'label'>>(
      `SELECT d.label FROM devices d
        JOIN subscriptions s ON s.device = d.id
        JOIN channels c ON c.id = s.channel
        WHERE d.device_id = ? AND c.channel_id = ? AND c.is_deleted = 0`,
      [deviceId, channelId],
    )
    return row && (row.label === null ? {} : { label: row.label })
  }

  async subscribers(channelId: ChannelId): Promise<readonly Subscriber[]> {
    const rows = await this.#database.all<Subscriber & Pick<DeviceRow, 'label'>>(
      `SELECT d.device_id AS deviceId, d.label, d.platform, d.channel_type AS channelType,
            s.created_at AS subscribedAt, COALESCE(d.seen_at, s.created_at) AS seenAt
          FROM channels c
          JOIN subscriptions s ON s.channel = c.id
          JOIN devices d ON d.id = s.device
          WHERE c.channel_id = ? ORDER BY s.created_at, d.id`,
      [channelId],
    )
    return rows.map(({ label, ...row }) => ({ ...row, ...(label !== null && { label }) }))
  }

  positions(deviceId: DeviceId): Promise<readonly Position[]> {
    return this.#database.all<Position>(`${POSITION} ORDER BY c.channel_id`, [deviceId])
  }

  position(deviceId: DeviceId, channelId: ChannelId): Promise<Position | undefined> {
    return this.#database.first<Position>(`${POSITION} AND c.channel_id = ?`, [deviceId, channelId])
  }

  acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void> {
    return this.#acknowledgements.upTo(acknowledgements)
  }

  acknowledgeEntries(deviceId: DeviceId, entries: readonly AckedEntry[]): Promise<number> {
    return this.#acknowledgements.single(deviceId, entries)
  }
}

/** JSON of preferences; null for none, so that nothing is looked at. */
const textOf = (notify: Preferences = {}): string | null =>
  Object.keys(notify).length === 0 ? null : JSON.stringify(notify)

/**
 * Replaces the preferences of one subscription; false without one. It looks first: MySQL counts no
 * row that stays as it was.
 */
async function prefer(
  executor: Executor,
  one: readonly [ChannelId, DeviceId],
  notify: Preferences,
): Promise<boolean> {
  const { forUpdate } = executor.dialect
  const held = `SELECT channel FROM subscriptions WHERE ${ONE}${forUpdate}`
  if ((await executor.first(held, [...one])) === undefined) return false
  await executor.run(`UPDATE subscriptions SET notify = ? WHERE ${ONE}`, [textOf(notify), ...one])
  return true
}

/** True when the channel has a place for one more device, of a key when it names one. */
async function hasRoom(executor: Executor, channel: number, keyId: string): Promise<boolean> {
  const taken = await executor.first<Record<'places' | 'ofKeys' | 'ofKey', number>>(
    `SELECT count(*) AS places, count(CASE WHEN m.key_id <> '' THEN 1 END) AS ofKeys,
        count(CASE WHEN m.key_id = ? THEN 1 END) AS ofKey
      FROM subscriptions s LEFT JOIN mqtt_sessions m ON m.device = s.device WHERE s.channel = ?`,
    [keyId, channel],
  )
  const { places = 0, ofKeys = 0, ofKey = 0 } = taken ?? {}
  if (places >= SUBSCRIBERS_MAX) return false // subscriptions/1
  // subscriptions/3
  return keyId === '' || (ofKeys < SUBSCRIBED_OF_KEYS_MAX && ofKey < SUBSCRIBED_OF_KEY_MAX)
}

/** Frees the places of MQTT sessions that are over and that retention has not removed yet. */
async function removeEnded(executor: Executor, channel: number, nowMs: number): Promise<void> {
  const ended = await executor.all<Numbered>(
    `SELECT s.device AS id FROM subscriptions s JOIN mqtt_sessions m ON m.device = s.device
      WHERE s.channel = ? AND m.expires_at <= ?`,
    [channel, nowMs],
  )
  for (const { id } of ended) {
    await executor.run('DELETE FROM subscriptions WHERE channel = ? AND device = ?', [channel, id])
  }
}

/**
 * Begins the time without a subscription. It comes before the subscriptions are written, so that
 * rows are locked in the order in which subscribing locks them. (idle/1)
 */
async function markSeen(executor: Executor, deviceId: DeviceId, nowMs: number): Promise<void> {
  await executor.run(
    'UPDATE devices SET seen_at = ? WHERE device_id = ? AND seen_at IS NOT NULL AND seen_at < ?',
    [nowMs, deviceId, nowMs],
  )
}

/** Locks the channel but not its head, which turns move all the time. */
const lockChannel = (
  executor: Executor,
  channelId: ChannelId,
): Promise<{ channel: number; channelName: string; headSeq: number } | undefined> =>
  executor.first(
    `SELECT c.id AS channel, c.name AS channelName,
        (SELECT h.head_seq FROM channel_heads h WHERE h.channel = c.id) AS headSeq
      FROM channels c
      WHERE c.channel_id = ? AND c.is_deleted = 0${executor.dialect.forUpdate}`,
    [channelId],
  )
