// Rows of channels with a key each, of Things and of subscribed devices: the same in both
// databases. No password is computed, so that many channels are there within seconds.

import { NO_FIELDS } from '#domain/patch'
import { documentOf } from '#domain/things/document'
import { keyHashOf } from '#src/acceptance/known-keys'
import { passwordHashOf } from '#src/acceptance/password-hash'
import { PASSWORD_PARAMETERS } from '#src/acceptance/password-work'
import { attrsOf, thingIdOf, titleOf } from '#test/bench/load/payload'
import { keyedChannels } from './channel-keys.ts'
import { deviceIdOf, deviceKeysOf } from './device-keys.ts'
import type { NewDevices } from './device-keys.ts'

/** Writes rows into the tables of the product. */
export interface RowWriter {
  /** Runs a statement. Returns the id of the row that it made. */
  run(sql: string, parameters: readonly (string | number)[]): Promise<number>
}

/** The hash of a password that nobody knows: a guess costs what it costs for any. */
const UNPROVED = passwordHashOf(
  { parameters: PASSWORD_PARAMETERS, salt: Buffer.alloc(16) },
  Buffer.alloc(16),
  Buffer.alloc(32),
)

const CHANNEL = `INSERT INTO channels
    (channel_id, name, password_hash, created_at, keys_hash, keys_epoch)
  VALUES (?, 'a fleet', ?, 1, ?, 1)`
const HEAD =
  'INSERT INTO channel_heads (channel, head_seq, things, open_events) VALUES (?, 0, 0, 0)'
const KEY = `INSERT INTO channel_keys (key_hash, channel, key_id, label, created_at, epoch)
  VALUES (?, ?, ?, '', 1, 1)`
const DEVICE = `INSERT INTO devices (device_id, platform, channel_type, created_at, seen_at)
  VALUES (?, 'linux', 'private', 1, 1)`
const SUBSCRIPTION = `INSERT INTO subscriptions
    (channel, device, since_seq, acked_seq, acked_ahead, created_at)
  SELECT h.channel, ?, h.head_seq, h.head_seq, '[]', 1
    FROM channels c JOIN channel_heads h ON h.channel = c.id WHERE c.channel_id = ?`

/** Writes the first so many of `keyedChannels`. */
export async function writeChannels(writer: RowWriter, count: number): Promise<void> {
  for (const { channelId, key } of keyedChannels(count)) {
    const channel = await writer.run(CHANNEL, [channelId, UNPROVED, UNPROVED])
    await writer.run(HEAD, [channel])
    await writer.run(KEY, [keyHashOf(key), channel, channelId])
  }
}

const THING = `INSERT INTO things (channel, id, state, seq, op_id, document)
  VALUES (?, ?, 'active', ?, ?, ?)`
const OF_HEAD = 'UPDATE channel_heads SET head_seq = ?, things = ? WHERE channel = ?'
/** As long as in a body of the workload, a digit more or less. */
const THING_NOTE = 'x'.repeat(67)

/** Writes the Things of the workload to channels that have none, as first updates leave them. */
export async function writeThings(
  writer: RowWriter,
  { count, channels }: { readonly count: number; readonly channels: readonly number[] },
): Promise<void> {
  const at = { stateAt: 1, at: 1, changedAt: Date.now() }
  for (let thing = 0; thing < count; thing += 1) {
    const seq = Math.floor(thing / channels.length) + 1
    const id = thingIdOf(thing)
    const fields = { values: { title: titleOf(thing) }, times: undefined }
    const attrs = { values: { ...attrsOf(thing), note: THING_NOTE }, times: undefined }
    const body = { fields, attrs, externalIds: NO_FIELDS }
    const document = documentOf({ id, state: 'active', rev: 1, seq, ...at, ...body })
    const channel = channels[thing % channels.length] ?? 0
    await writer.run(THING, [channel, id, seq, `made-${thing}`, document])
  }
  for (const [index, channel] of channels.entries()) {
    const own = Math.ceil((count - index) / channels.length)
    await writer.run(OF_HEAD, [own, own, channel])
  }
}

/** Writes devices, subscribed to their channels, that have seen everything until then. */
export async function writeDevices(
  writer: RowWriter,
  { name, count, channels, among }: NewDevices,
): Promise<void> {
  const known = keyedChannels(among)
  for (const [index, key] of deviceKeysOf(name, count).entries()) {
    const device = await writer.run(DEVICE, [deviceIdOf(key)])
    for (let nth = 0; nth < channels; nth += 1) {
      const { channelId = '' } = known[(index * channels + nth) % among] ?? {}
      await writer.run(SUBSCRIPTION, [device, channelId])
    }
  }
}
