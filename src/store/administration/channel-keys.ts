// Keys that stand for a channel and its password.
//
// Invariants:
//   stored-keys/1. A key is good only while the channel is there with the password that it was made
//     for: a change of that password, by an older version too, makes it void.
//   stored-keys/2. A channel never has more than CHANNEL_KEYS_MAX good keys; void ones make room.

import { CHANNEL_KEYS_MAX } from '#domain/channel-keys'
import type { ChannelKey, NewChannelKey } from '#domain/channel-keys'
import type { ChannelId } from '#domain/identity'
import type { ChannelKeyStore } from '#domain/channel-keys'
import { Bulk } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { ChannelKeyRow } from '#src/store/entities/channel-keys'
import type { Tables } from '#src/store/entities/tables'

/** stored-keys/1 */
const GOOD = `channel_keys k JOIN channels c
  ON c.id = k.channel AND c.password_hash = k.password_hash AND c.is_deleted = 0`

export class ChannelKeys implements ChannelKeyStore {
  readonly #database: Database
  readonly #keys: Bulk<ChannelKeyRow>

  constructor(database: Database, tables: Tables) {
    this.#database = database
    this.#keys = Bulk.of(tables.channelKeys)
  }

  create({ channelId, ...key }: NewChannelKey): Promise<'created' | 'full' | 'no-channel'> {
    return this.#database.durable(async (executor) => {
      // The lock keeps another key from being made in between. (stored-keys/2)
      const found = await executor.first<{ id: number; passwordHash: string }>(
        `SELECT id, password_hash AS passwordHash FROM channels
          WHERE channel_id = ? AND is_deleted = 0${executor.dialect.forUpdate}`,
        [channelId],
      )
      if (found?.passwordHash !== key.passwordHash) return 'no-channel'
      await executor.run('DELETE FROM channel_keys WHERE channel = ? AND password_hash <> ?', [
        found.id,
        key.passwordHash,
      ])
      const counted = await executor.first<{ made: number }>(
        'SELECT count(*) AS made FROM channel_keys WHERE channel = ?',
        [found.id],
      )
      if ((counted?.made ?? 0) >= CHANNEL_KEYS_MAX) return 'full'
      await this.#keys.write(executor, [{ ...key, channel: found.id }])
      return 'created'
    })
  }

  async find(keyHash: string): Promise<ChannelId | undefined> {
    const found = await this.#database.read((executor) =>
      executor.first<{ channelId: ChannelId }>(
        `SELECT c.channel_id AS channelId FROM ${GOOD} WHERE k.key_hash = ?`,
        [keyHash],
      ),
    )
    return found?.channelId
  }

  list(channelId: ChannelId): Promise<readonly ChannelKey[]> {
    return this.#database.read((executor) =>
      executor.all<ChannelKey>(
        `SELECT k.key_id AS keyId, k.label, k.created_at AS createdAt FROM ${GOOD}
          WHERE c.channel_id = ? ORDER BY k.created_at, k.key_id`,
        [channelId],
      ),
    )
  }

  revoke(channelId: ChannelId, keyId: string): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const { affected } = await executor.run(
        `DELETE FROM channel_keys WHERE key_id = ?
          AND channel = (SELECT id FROM channels WHERE channel_id = ? AND is_deleted = 0)`,
        [keyId, channelId],
      )
      return affected > 0
    })
  }
}
