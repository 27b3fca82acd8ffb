// MQTT sessions that outlive their connection.
//
// Invariants:
//   mqtt-sessions/1. A connection writes only while no newer one has entered: its number is
//     compared in the transaction that writes, under the lock under which the newer one gets its
//     own.
//   mqtt-sessions/2. Rows are locked in the order of their device ids, so that two nodes do not
//     wait for each other.
//   mqtt-sessions/3. A session ends with its key: no connection lets it live on, and what a channel
//     has for its devices is free at once.

import type { ChannelId } from '#domain/identity'
import { KEPT_SESSIONS_MAX, KEPT_SESSIONS_OF_KEY_MAX } from '#domain/mqtt/sessions'
import type {
  EnteredSession,
  Exchange,
  MqttEntry,
  MqttSessionStore,
  SessionOwner,
} from '#domain/mqtt/sessions'
import type { MqttExchangeRow, MqttSessionRow } from '#src/store/entities/mqtt-sessions'
import type { Tables } from '#src/store/entities/tables'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { Group } from '#src/store/jobs/group'
import { Bulk, changeIn } from '#src/store/statements/bulk'
import { lockedDevice } from './locked.ts'

interface Recording {
  readonly owner: SessionOwner
  readonly exchanges: readonly Exchange[]
}

const IDEMPOTENT = { isIdempotent: true }
const NO_SUBSCRIPTIONS = '[]'

export class MqttSessions implements MqttSessionStore {
  readonly #database: Database
  readonly #entered: Group<MqttEntry, EnteredSession>
  readonly #recorded: Group<Recording, boolean>

  constructor(database: Database, tables: Tables) {
    this.#database = database
    const { onDuplicate } = database.dialect
    const exchanges = Bulk.of<MqttExchangeRow>(tables.mqttExchanges, {
      onDuplicate: onDuplicate(['device', 'slot'], ['packet_id', 'op_id', 'digest', 'qos']),
    })
    this.#entered = new Group(database, {
      enter: (job) => database.repeatable(job, IDEMPOTENT),
      answer: (executor, entries) =>
        inOrder(
          entries,
          ({ deviceId }) => deviceId,
          (entry) => enter(executor, entry),
        ),
    })
    this.#recorded = new Group(database, {
      // The log has the publish on the disk: a repeat after a power cut must find its operation.
      enter: (job) => database.durable(job, IDEMPOTENT),
      answer: (executor, recordings) =>
        inOrder(
          recordings,
          ({ owner }) => owner.deviceId,
          async ({ owner, exchanges: some }) => {
            const device = await owned(executor, owner)
            if (device === undefined) return false
            await exchanges.write(
              executor,
              some.map((exchange) => ({ device, ...exchange })),
            )
            return true
          },
        ),
    })
  }

  enter(entry: MqttEntry): Promise<EnteredSession> {
    return this.#entered.ask(entry)
  }

  subscribe(owner: SessionOwner, subscriptions: string): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const device = await owned(executor, owner)
      if (device === undefined) return false
      await executor.run('UPDATE mqtt_sessions SET subscriptions = ? WHERE device = ?', [
        subscriptions,
        device,
      ])
      return true
    }, IDEMPOTENT)
  }

  record(owner: SessionOwner, exchanges: readonly Exchange[]): Promise<boolean> {
    return this.#recorded.ask({ owner, exchanges })
  }

  async leave(owner: SessionOwner, expiresAt = Infinity): Promise<void> {
    if (expiresAt === Infinity) return
    await this.#database.repeatable(async (executor) => {
      const device = await owned(executor, owner)
      if (device === undefined) return
      // mqtt-sessions/3
      await executor.run(
        `UPDATE mqtt_sessions SET expires_at = ?
          WHERE device = ? AND (expires_at IS NULL OR expires_at > ?)`,
        [expiresAt, device, expiresAt],
      )
    }, IDEMPOTENT)
  }
}

/** Removes what belongs to the sessions of these devices; gives the number of removed rows. */
export async function removeMqttSessions(
  executor: Executor,
  devices: readonly number[],
): Promise<number> {
  let removed = 0
  for (const table of ['mqtt_exchanges', 'mqtt_sessions', 'subscriptions']) {
    removed += await changeIn(
      executor,
      devices,
      (list) => `DELETE FROM ${table} WHERE device IN (${list})`,
    )
  }
  return removed
}

/**
 * Ends the sessions of a key, or without one those of all keys of a channel; retention removes
 * them. (mqtt-sessions/3)
 */
export async function endSessionsOfKeys(
  executor: Executor,
  channel: number,
  keyId?: string,
): Promise<void> {
  const of = keyId === undefined ? "channel = ? AND key_id <> ''" : 'channel = ? AND key_id = ?'
  const whose = keyId === undefined ? [channel] : [channel, keyId]
  await executor.run(`UPDATE mqtt_sessions SET expires_at = 0 WHERE ${of}`, whose)
  await executor.run(
    `DELETE FROM subscriptions WHERE channel = ?
      AND device IN (SELECT device FROM mqtt_sessions WHERE ${of})`,
    [channel, ...whose],
  )
}

/** mqtt-sessions/2 */
async function inOrder<Item, Answer>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  work: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers = new Map<Item, Answer>()
  const sorted = items.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  for (const item of sorted) answers.set(item, await work(item))
  return items.flatMap((item) => {
    const answer = answers.get(item)
    return answer === undefined ? [] : [answer]
  })
}

/** The device of a connection that has its session still. (mqtt-sessions/1) */
async function owned(
  executor: Executor,
  { deviceId, number }: SessionOwner,
): Promise<number | undefined> {
  const found = await lockedDevice(executor, deviceId)
  return found?.sessions === number ? found.id : undefined
}

async function enter(executor: Executor, entry: MqttEntry): Promise<EnteredSession> {
  const { deviceId, isClean, isKept, nowMs, expiresAt = null } = entry
  const device = await lockedDevice(executor, deviceId)
  if (device === undefined)
    return isKept ? begin(executor, entry) : { number: nowMs, kept: undefined }
  const { id, sessions } = device
  const found = await executor.first<Pick<MqttSessionRow, 'subscriptions' | 'expiresAt'>>(
    `SELECT subscriptions, expires_at AS expiresAt FROM mqtt_sessions WHERE device = ?`,
    [id],
  )
  const isOver = (found?.expiresAt ?? Infinity) <= nowMs
  const isPresent = !isClean && !isOver && found !== undefined
  if (!isPresent) await removeMqttSessions(executor, [id])
  if (!isPresent && !isKept) {
    await executor.run('DELETE FROM devices WHERE id = ?', [id])
    return { number: nowMs, kept: undefined }
  }
  const number = Math.max(sessions + 1, nowMs)
  await executor.run('UPDATE devices SET sessions = ?, seen_at = ? WHERE id = ?', [
    number,
    nowMs,
    id,
  ])
  if (!isPresent) return { number, kept: await keep(executor, entry, id) }
  await executor.run('UPDATE mqtt_sessions SET expires_at = ? WHERE device = ?', [expiresAt, id])
  const exchanges = await executor.all<Exchange>(
    `SELECT slot, packet_id AS packetId, op_id AS opId, digest, qos
      FROM mqtt_exchanges WHERE device = ? ORDER BY slot`,
    [id],
  )
  return { number, kept: { isPresent, subscriptions: found.subscriptions, exchanges } }
}

/** Makes the device of a first session, unless its channel keeps too many. */
async function begin(executor: Executor, entry: MqttEntry): Promise<EnteredSession> {
  const { deviceId, channelId, keyId, nowMs } = entry
  const channel = await channelOf(executor, channelId)
  const { count, own } = (await executor.first<{ readonly count: number; readonly own: number }>(
    `SELECT count(*) AS count, count(CASE WHEN key_id = ? THEN 1 END) AS own
      FROM mqtt_sessions WHERE channel = ?`,
    [keyId, channel],
  )) ?? { count: 0, own: 0 }
  const isFull = count >= KEPT_SESSIONS_MAX || (keyId !== '' && own >= KEPT_SESSIONS_OF_KEY_MAX)
  if (isFull) return { number: nowMs, kept: undefined }
  await executor.run(
    `INSERT INTO devices (device_id, platform, channel_type, created_at, sessions, seen_at)
      VALUES (?, 'other', 'private', ?, ?, ?)`,
    [deviceId, nowMs, nowMs, nowMs],
  )
  const made = await executor.first<{ readonly id: number }>(
    'SELECT id FROM devices WHERE device_id = ?',
    [deviceId],
  )
  return { number: nowMs, kept: made && (await keep(executor, entry, made.id)) }
}

async function keep(
  executor: Executor,
  { channelId, keyId, expiresAt }: MqttEntry,
  device: number,
): Promise<EnteredSession['kept']> {
  const channel = await channelOf(executor, channelId)
  await executor.run(
    `INSERT INTO mqtt_sessions (device, channel, subscriptions, key_id, expires_at)
      VALUES (?, ?, ?, ?, ?)`,
    [device, channel, NO_SUBSCRIPTIONS, keyId, expiresAt ?? null],
  )
  return { isPresent: false, subscriptions: NO_SUBSCRIPTIONS, exchanges: [] }
}

/** 0 for a channel that is gone. */
const channelOf = async (executor: Executor, channelId: ChannelId): Promise<number> =>
  (
    await executor.first<{ readonly id: number }>('SELECT id FROM channels WHERE channel_id = ?', [
      channelId,
    ])
  )?.id ?? 0
