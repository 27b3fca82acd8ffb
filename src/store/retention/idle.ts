// Removes devices and channels that nobody uses any more.
//
// Invariants:
//   idle/1. A device that never subscribed is removed a time after its registration. Any other is
//     removed when it has no subscription and was not seen for the time of the limit. A kept MQTT
//     session goes with its subscription, which nobody else can end: then, or once it has ended.
//   idle/2. A channel is removed when it has no subscriber, no Thing and no open Event, and was
//     neither made, written to nor subscribed to since retention last looked at it, before the
//     limit. Its head is compared under a lock, in the transaction that deletes it: a turn that
//     writes to the channel meanwhile keeps it.
//   idle/3. A device or channel in use is checked once in each such time, not with each step: then
//     it counts as seen. The cost follows the number of removed rows, and of rows that reach that
//     age. (retention/1)

import type { Expired, IdleLimits } from '#domain/retention-ports'
import { allIn, changeById, removeById } from '#src/store/statements/bulk'
import { removeMqttSessions } from '#src/store/administration/mqtt-sessions'
import type { Numbered } from '#src/store/dialect'
import type { ChannelHeadRow, ChannelRow } from '#src/store/entities/channels'
import type { Executor } from '#src/store/jobs/executor'

/** Stands in place of a head for a channel that got a subscription since retention looked at it. */
export const USED_SINCE = -1

/** Removes devices; gives the number of removed ones. (idle/1) */
export async function removeIdleDevices(
  executor: Executor,
  limits: IdleLimits,
  maxRows: number,
): Promise<number> {
  const strangers = await oldDevices(executor, 'seen_at IS NULL AND created_at < ?', {
    before: limits.neverSubscribed,
    maxRows,
  })
  const absent = await oldDevices(executor, 'seen_at < ?', {
    before: limits.devices,
    maxRows: maxRows - strangers.length,
  })
  const ended = await executor.all<Numbered>(
    'SELECT device AS id FROM mqtt_sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?',
    [limits.nowMs, maxRows - strangers.length - absent.length],
  )
  const old = [...strangers, ...absent]
  const sessions = await amongRows(executor, 'mqtt_sessions', 'device', old)
  for (const { id } of ended) sessions.add(id)
  await removeMqttSessions(executor, [...sessions])
  const subscribed = await amongRows(executor, 'subscriptions', 'device', old)
  const inUse = old.filter(({ id }) => subscribed.has(id))
  await changeById(executor, inUse, 'UPDATE devices SET seen_at = ?', [limits.nowMs]) // idle/3
  const idle = new Set(old.filter(({ id }) => !subscribed.has(id)).map(({ id }) => id))
  for (const { id } of ended) idle.add(id)
  return removeById(
    executor,
    'devices',
    [...idle].map((id) => ({ id })),
  )
}

/** Locks the devices: a subscription that is made meanwhile waits, or is seen. */
const oldDevices = (
  executor: Executor,
  condition: string,
  { before, maxRows }: { readonly before: number; readonly maxRows: number },
): Promise<Numbered[]> =>
  executor.all<Numbered>(
    `SELECT id FROM devices WHERE ${condition} ORDER BY seen_at, created_at LIMIT ?
      ${executor.dialect.forUpdate}`,
    [before, maxRows],
  )

/** The rows among these whose id is in a column of another table. */
async function amongRows(
  executor: Executor,
  table: 'mqtt_sessions' | 'subscriptions',
  column: 'device' | 'channel',
  rows: readonly Numbered[],
): Promise<Set<number>> {
  const held = await allIn<Numbered>(
    executor,
    rows.map(({ id }) => id),
    (list) => `SELECT DISTINCT ${column} AS id FROM ${table} WHERE ${column} IN (${list})`,
  )
  return new Set(held.map(({ id }) => id))
}

type OldChannel = Numbered & Pick<ChannelRow, 'channelId' | 'createdAt' | 'usedSeq'>
type Head = Numbered & Pick<ChannelHeadRow, 'headSeq' | 'things' | 'openEvents'>

/** Deletes channels, whose rows are removed later; gives the deleted channels. (idle/2) */
export async function deleteIdleChannels(
  executor: Executor,
  { channels: before, nowMs }: IdleLimits,
  maxRows: number,
): Promise<Expired['channels']> {
  const old = await executor.all<OldChannel>(
    `SELECT id, channel_id AS channelId, created_at AS createdAt, used_seq AS usedSeq
      FROM channels WHERE is_deleted = 0 AND used_at < ? ORDER BY used_at LIMIT ?
      ${executor.dialect.forUpdate}`,
    [before, maxRows],
  )
  const heads = await headsOf(executor, old, '')
  const subscribed = await amongRows(executor, 'subscriptions', 'channel', old)
  const unused: OldChannel[] = []
  for (const channel of old) {
    const head = heads.get(channel.id)
    const isInUse = subscribed.has(channel.id) || isHeld(head, channel)
    if (!isInUse && channel.createdAt < before) unused.push(channel)
    else {
      const usedAt = isInUse ? nowMs : channel.createdAt
      const usedSeq = subscribed.has(channel.id) ? USED_SINCE : (head?.headSeq ?? USED_SINCE)
      await executor.run('UPDATE channels SET used_at = ?, used_seq = ? WHERE id = ?', [
        usedAt,
        usedSeq,
        channel.id,
      ]) // idle/3
    }
  }
  const locked = await headsOf(executor, unused, executor.dialect.forUpdate) // idle/2
  const deleted = unused.filter((channel) => !isHeld(locked.get(channel.id), channel))
  await changeById(executor, deleted, 'UPDATE channels SET is_deleted = ?', [nowMs])
  return deleted.map(({ channelId }) => channelId)
}

const isHeld = (head: Head | undefined, { usedSeq }: OldChannel): boolean =>
  head === undefined || head.things > 0 || head.openEvents > 0 || head.headSeq !== usedSeq

async function headsOf(
  executor: Executor,
  channels: readonly Numbered[],
  lock: string,
): Promise<ReadonlyMap<number, Head>> {
  const heads = await allIn<Head>(
    executor,
    channels.map(({ id }) => id),
    (list) => `SELECT channel AS id, head_seq AS headSeq, things, open_events AS openEvents
      FROM channel_heads WHERE channel IN (${list})${lock}`,
  )
  return new Map(heads.map((head) => [head.id, head]))
}
