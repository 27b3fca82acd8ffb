// The hooks of channels, and the Events of alarms whose tools do not tell when they began.
//
// Invariants:
//   stored-hooks/1. Two requests that open one alarm at once open one Event: the row is read and
//     written under the lock of its channel.
//   stored-hooks/2. A channel has at most EPISODES_MAX such rows: those of ended alarms make room.

import { EPISODES_MAX } from '#domain/hooks'
import type { Episode, HookStore, KeptEpisode, KeptHooks } from '#domain/hooks'
import type { ChannelId } from '#domain/identity'
import type { HookEpisodeRow } from '#src/store/entities/channels'
import type { Tables } from '#src/store/entities/tables'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { Bulk } from '#src/store/statements/bulk'
import { ChannelDocuments } from './channel-documents.ts'
import { lockedChannel } from './locked.ts'

const IDEMPOTENT = { isIdempotent: true }
const EPISODE = 'SELECT event_id AS eventId, ended_at AS endedAt FROM hook_episodes'
const OF_CHANNEL = '(SELECT id FROM channels WHERE channel_id = ? AND is_deleted = 0)'

export class Hooks implements HookStore {
  readonly #database: Database
  readonly #hooks: ChannelDocuments<keyof KeptHooks>
  readonly #episodes: Bulk<HookEpisodeRow>

  constructor(database: Database, { channelHooks, hookEpisodes }: Tables) {
    this.#database = database
    const { onDuplicate } = database.dialect
    this.#hooks = new ChannelDocuments(database, channelHooks, { mappings: '[]', secrets: '{}' })
    this.#episodes = Bulk.of(hookEpisodes, {
      onDuplicate: onDuplicate(['channel', 'source'], ['event_id', 'ended_at']),
    })
  }

  find(channelId: ChannelId): Promise<KeptHooks | undefined> {
    return this.#hooks.find(channelId)
  }

  put(channelId: ChannelId, hooks: KeptHooks): Promise<boolean> {
    return this.#hooks.put(channelId, hooks)
  }

  episode(channelId: ChannelId, source: string): Promise<KeptEpisode | undefined> {
    return this.#database.read((executor) =>
      executor.first<KeptEpisode>(`${EPISODE} WHERE channel = ${OF_CHANNEL} AND source = ?`, [
        channelId,
        source,
      ]),
    )
  }

  begin({ channelId, source, eventId }: Episode): ReturnType<HookStore['begin']> {
    return this.#database.durable(async (executor) => {
      const found = await lockedChannel(executor, channelId)
      if (found === undefined) return 'no-channel'
      const channel = found.id
      const before = await executor.first<KeptEpisode>(
        `${EPISODE} WHERE channel = ? AND source = ?${executor.dialect.forUpdate}`,
        [channel, source],
      )
      // stored-hooks/1
      if (before?.endedAt === 0) return before.eventId === eventId ? 'begun' : 'other'
      if (before === undefined && !(await hasRoom(executor, channel))) return 'full'
      await this.#episodes.write(executor, [{ channel, source, eventId, endedAt: 0 }])
      return 'begun'
    }, IDEMPOTENT)
  }

  async end({ channelId, source, eventId }: Episode, endedAt: number): Promise<void> {
    await this.#database.durable(
      (executor) =>
        executor.run(
          `UPDATE hook_episodes SET ended_at = ?
            WHERE channel = ${OF_CHANNEL} AND source = ? AND event_id = ?`,
          [endedAt, channelId, source, eventId],
        ),
      IDEMPOTENT,
    )
  }
}

/** stored-hooks/2 */
async function hasRoom(executor: Executor, channel: number): Promise<boolean> {
  const kept = await executor.first<{ count: number }>(
    'SELECT COUNT(*) AS count FROM hook_episodes WHERE channel = ?',
    [channel],
  )
  if ((kept?.count ?? 0) < EPISODES_MAX) return true
  const ended = 'DELETE FROM hook_episodes WHERE channel = ? AND ended_at > 0'
  return (await executor.run(ended, [channel])).affected > 0
}
