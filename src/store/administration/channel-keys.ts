// Keys that stand in the place of a channel's password.
//
// Invariants:
//   stored-keys/1. A key is good only while the channel is there with the password that it was made
//     for, or with one whose change kept the keys. Any other one leaves `keys_hash` behind.
//   stored-keys/2. A channel never has more than CHANNEL_KEYS_MAX good keys; void and expired ones
//     make room.

import { CHANNEL_KEYS_MAX, KEY_SCOPES } from '#domain/channel-keys'
import type { ChannelKeyStore, ListedKey, NewChannelKey, StoredKey } from '#domain/channel-keys'
import type { ChannelId } from '#domain/identity'
import type { Page } from '#domain/store-ports'
import { Bulk, allIn, changeIn, removeById } from '#src/store/statements/bulk'
import { lockedChannel } from './locked.ts'
import { endSessionsOfKeys } from './mqtt-sessions.ts'
import type { Database } from '#src/store/jobs/database'
import type { Numbered } from '#src/store/dialect'
import type { ChannelKeyRow } from '#src/store/entities/channels'
import type { Tables } from '#src/store/entities/tables'
import type { Executor } from '#src/store/jobs/executor'

/** stored-keys/1 */
const IS_GOOD = '(k.epoch = c.keys_epoch AND c.keys_hash = c.password_hash)'

const RIGHTS = `k.key_id AS keyId, k.scopes, k.thing_prefix AS thingPrefix,
  k.expires_at AS expiresAt, k.last_used_on AS lastUsedOn`

/** Void or expired keys that making one more removes at most. */
const REMOVED_MAX = 1_000

type Unscoped<Key> = Omit<Key, 'scopes'> & { readonly scopes: string }

export class ChannelKeys implements ChannelKeyStore {
  readonly #database: Database
  readonly #keys: Bulk<ChannelKeyRow>

  constructor(database: Database, tables: Tables) {
    this.#database = database
    this.#keys = Bulk.of(tables.channelKeys)
  }

  create(key: NewChannelKey): Promise<'created' | 'full' | 'no-channel'> {
    const { channelId, passwordHash, scopes, ...parts } = key
    return this.#database.durable(async (executor) => {
      // The lock keeps another key from being made in between. (stored-keys/2)
      const epoch = await epochFor(executor, channelId, passwordHash)
      if (epoch === undefined) return 'no-channel'
      const { channel } = epoch
      await removeVoid(executor, epoch)
      if (!(await hasRoom(executor, epoch, key.createdAt))) return 'full'
      const row = { ...parts, channel, scopes: scopes.join(' '), epoch: epoch.epoch }
      await this.#keys.write(executor, [{ ...row, lastUsedOn: 0 }])
      return 'created'
    })
  }

  find(keyHashes: readonly string[]): Promise<readonly StoredKey[]> {
    return this.#database.read(async (executor) => {
      const rows = await allIn<Unscoped<StoredKey>>(
        executor,
        keyHashes,
        (list) => `SELECT${executor.dialect.inOrder} k.key_hash AS keyHash,
            c.channel_id AS channelId, k.label, ${RIGHTS}
          FROM channel_keys k CROSS JOIN channels c ON c.id = k.channel AND c.is_deleted = 0
          WHERE k.key_hash IN (${list}) AND ${IS_GOOD}`,
      )
      return rows.map(scoped)
    })
  }

  async list(channelId: ChannelId, after: number, limit: number): Promise<Page<ListedKey>> {
    const rows = await this.#database.all<
      Unscoped<ListedKey> & Numbered & { readonly isGood: number }
    >(
      `SELECT k.id, k.label, k.created_at AS createdAt, ${RIGHTS},
            CASE WHEN ${IS_GOOD} THEN 1 ELSE 0 END AS isGood
          FROM channels c JOIN channel_keys k ON k.channel = c.id
          WHERE c.channel_id = ? AND c.is_deleted = 0 AND k.id > ? ORDER BY k.id LIMIT ?`,
      [channelId, after, limit + 1],
    )
    const page = rows.slice(0, limit)
    // Void keys fill a page too, so that no page reads more rows than it may have.
    const good = page.filter(({ isGood }) => isGood === 1)
    const items = good.map(({ id: _id, isGood: _isGood, ...key }) => scoped(key))
    const last = page.at(-1)
    return rows.length <= limit || last === undefined ? { items } : { items, next: last.id }
  }

  revoke(channelId: ChannelId, keyId: string): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const found = await lockedChannel(executor, channelId)
      if (found === undefined) return false
      const { affected } = await executor.run(
        'DELETE FROM channel_keys WHERE channel = ? AND key_id = ?',
        [found.id, keyId],
      )
      if (affected > 0) await endSessionsOfKeys(executor, found.id, keyId)
      return affected > 0
    })
  }

  async used(keyHashes: readonly string[], day: number): Promise<void> {
    // In one order, in which every process locks the rows.
    const hashes = keyHashes.toSorted()
    await this.#database.repeatable(
      (executor) =>
        changeIn(
          executor,
          hashes,
          (list) => `UPDATE channel_keys SET last_used_on = ?
            WHERE key_hash IN (${list}) AND last_used_on < ?`,
          { before: [day], behind: [day] },
        ),
      { isIdempotent: true },
    )
  }
}

const scoped = <Key extends { readonly scopes: string }>({ scopes, ...key }: Key) => ({
  ...key,
  scopes: KEY_SCOPES.filter((scope) => scopes.split(' ').includes(scope)),
})

/** The number of a channel, and the epoch of the keys that are made for its password now. */
interface Epoch {
  readonly channel: number
  readonly epoch: number
}

/**
 * The epoch of a channel's keys, which begins when they are void; undefined unless this password is
 * in force. Locks the channel.
 */
async function epochFor(
  executor: Executor,
  channelId: ChannelId,
  passwordHash: string,
): Promise<Epoch | undefined> {
  const found = await lockedChannel(executor, channelId)
  if (found?.passwordHash !== passwordHash) return undefined
  const { id: channel, keysHash, keysEpoch } = found
  if (keysHash === passwordHash) return { channel, epoch: keysEpoch }
  const epoch = keysEpoch + 1 // stored-keys/1
  await executor.run('UPDATE channels SET keys_hash = ?, keys_epoch = ? WHERE id = ?', [
    passwordHash,
    epoch,
    channel,
  ])
  return { channel, epoch }
}

/**
 * Lets the keys of a channel live on when its next password replaces this one; gives the number of
 * the channel. Undefined, having done nothing, unless this password is in force. Locks the channel.
 */
export async function keepKeys(
  executor: Executor,
  channelId: ChannelId,
  change: { readonly previousHash: string; readonly passwordHash: string },
): Promise<number | undefined> {
  const { previousHash, passwordHash } = change
  const found = await epochFor(executor, channelId, previousHash)
  if (found === undefined) return undefined
  const { channel } = found
  await executor.run('UPDATE channels SET keys_hash = ? WHERE id = ?', [passwordHash, channel])
  return channel
}

/**
 * Ends what lives with the keys of a channel whose next password makes them void; gives the number
 * of the channel. Undefined, having done nothing, unless this password is in force. Locks the
 * channel.
 */
export async function endKeys(
  executor: Executor,
  channelId: ChannelId,
  previousHash: string,
): Promise<number | undefined> {
  const found = await lockedChannel(executor, channelId)
  if (found?.passwordHash !== previousHash) return undefined
  await endSessionsOfKeys(executor, found.id)
  return found.id
}

async function removeVoid(executor: Executor, { channel, epoch }: Epoch): Promise<void> {
  const rows = await executor.all<Numbered>(
    'SELECT id FROM channel_keys WHERE channel = ? AND epoch < ? LIMIT ?',
    [channel, epoch, REMOVED_MAX],
  )
  await removeById(executor, 'channel_keys', rows)
}

/** True when the channel may have one more key; expired ones give way. (stored-keys/2) */
async function hasRoom(
  executor: Executor,
  { channel, epoch }: Epoch,
  nowMs: number,
): Promise<boolean> {
  const counted = await executor.first<{ made: number }>(
    'SELECT count(*) AS made FROM channel_keys WHERE channel = ? AND epoch = ?',
    [channel, epoch],
  )
  if ((counted?.made ?? 0) < CHANNEL_KEYS_MAX) return true
  const expired = await executor.all<Numbered>(
    `SELECT id FROM channel_keys WHERE channel = ? AND expires_at > 0 AND expires_at <= ? LIMIT ?`,
    [channel, nowMs, REMOVED_MAX],
  )
  await removeById(executor, 'channel_keys', expired)
  return expired.length > 0
}
