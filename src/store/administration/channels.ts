// Channels, for administration and acceptance. A deleted channel is gone for everybody at once;
// retention removes its rows later.

import type { ChannelCredentials, ChannelInfo, NewChannel, PasswordChange } from '#domain/channel'
import type { ChannelId } from '#domain/identity'
import type { ChannelStore } from '#domain/store-ports'
import { Bulk, changeById } from '#src/store/statements/bulk'
import { endKeys, keepKeys } from './channel-keys.ts'
import { lockedChannel } from './locked.ts'
import type { Database } from '#src/store/jobs/database'
import type { Numbered } from '#src/store/dialect'
import type { ChannelHeadRow, ChannelRow } from '#src/store/entities/channels'
import type { Tables } from '#src/store/entities/tables'
import { factFor } from '#src/store/turns/lanes'

/** The name of the salt among the facts of gateway_meta. */
const PASSWORD_SALT = 'password_salt'

export class Channels implements ChannelStore {
  readonly #database: Database
  readonly #channels: Bulk<ChannelRow>
  readonly #heads: Bulk<ChannelHeadRow>

  constructor(database: Database, tables: Tables) {
    this.#database = database
    this.#channels = Bulk.of(tables.channels)
    this.#heads = Bulk.of(tables.channelHeads)
  }

  credentials(channelId: ChannelId): Promise<ChannelCredentials | undefined> {
    return this.#database.first<ChannelCredentials>(
      `SELECT channel_id AS channelId, password_hash AS passwordHash, name AS channelName
          FROM channels WHERE channel_id = ? AND is_deleted = 0`,
      [channelId],
    )
  }

  create({ channelId, channelName, passwordHash, createdAt }: NewChannel): Promise<void> {
    const use = { isDeleted: 0, usedAt: createdAt, usedSeq: 0, keysHash: '', keysEpoch: 0 }
    const row = { channelId, name: channelName, passwordHash, createdAt, ...use }
    return this.#database.durable(async (executor) => {
      let channel = 0
      await this.#channels.write(executor, [row], (raw) => {
        channel = executor.dialect.firstId(raw, 1)
      })
      const counts = { headSeq: 0, things: 0, openEvents: 0, entriesFloor: 0, tombstoneFloor: 0 }
      await this.#heads.write(executor, [{ channel, ...counts, hasProviderRoutes: 0 }])
    })
  }

  async rename(channelId: ChannelId, channelName: string): Promise<boolean> {
    const renamed = await this.#database.change(
      'UPDATE channels SET name = ? WHERE channel_id = ? AND is_deleted = 0',
      [channelName, channelId],
    )
    return renamed === 1
  }

  changePassword(channelId: ChannelId, change: PasswordChange): Promise<boolean> {
    const { previousHash, passwordHash, kept } = change
    return this.#database.durable(async (executor) => {
      const channel =
        kept === 'nothing'
          ? await endKeys(executor, channelId, previousHash)
          : await keepKeys(executor, channelId, change)
      if (channel === undefined) return false
      if (kept === 'everything') {
        await executor.run(
          'UPDATE bindings SET password_hash = ? WHERE channel = ? AND password_hash = ?',
          [passwordHash, channel, previousHash],
        )
      }
      await executor.run('UPDATE channels SET password_hash = ? WHERE id = ?', [
        passwordHash,
        channel,
      ])
      return true
    })
  }

  passwordSalt(first: string): Promise<string> {
    return this.#database.durable((executor) => factFor(executor, PASSWORD_SALT, first), {
      isIdempotent: true,
    })
  }

  delete(channelId: ChannelId, nowMs: number): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const found = await lockedChannel(executor, channelId)
      if (found === undefined) return false
      await executor.run('UPDATE channels SET is_deleted = ? WHERE id = ?', [nowMs, found.id])
      // The time without a subscription begins now. (idle/1)
      const held = await executor.all<Numbered>(
        'SELECT device AS id FROM subscriptions WHERE channel = ? ORDER BY device',
        [found.id],
      )
      await changeById(executor, held, 'UPDATE devices SET seen_at = ?', [nowMs])
      await executor.run('DELETE FROM subscriptions WHERE channel = ?', [found.id])
      return true
    })
  }

  info(channelId: ChannelId): Promise<ChannelInfo | undefined> {
    return this.#database.first<ChannelInfo>(
      `SELECT c.channel_id AS channelId, c.name AS channelName, c.created_at AS createdAt,
            h.head_seq AS headSeq, h.things, h.open_events AS openEvents,
            (SELECT count(*) FROM subscriptions s WHERE s.channel = c.id) AS subscribers
          FROM channels c JOIN channel_heads h ON h.channel = c.id
          WHERE c.channel_id = ? AND c.is_deleted = 0`,
      [channelId],
    )
  }

  async exists(channelId: ChannelId): Promise<boolean> {
    return (await this.credentials(channelId)) !== undefined
  }
}
