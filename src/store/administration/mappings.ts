// The mappings of channels, and the topics that nothing maps.
//
// Invariants:
//   stored-mappings/1. What two nodes note at once is kept of both: the row is read under the lock
//     under which it is written, and rows are locked in one order.

import type { ChannelId } from '#domain/identity'
import { newestOf } from '#domain/mqtt/mappings'
import type {
  KeptMappings,
  MappingStore,
  UnmappedTopic,
  UnmappedTopics,
} from '#domain/mqtt/mappings'
import { isRecord } from '#domain/record'
import type { ChannelMappingsRow } from '#src/store/entities/channels'
import type { Tables } from '#src/store/entities/tables'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { Group } from '#src/store/jobs/group'
import { Bulk, allIn } from '#src/store/statements/bulk'
import { lockedChannel } from './locked.ts'

type Kept = Omit<ChannelMappingsRow, 'channel'> & { readonly channelId: ChannelId }

const IDEMPOTENT = { isIdempotent: true }
const NOTHING = '[]'

export class Mappings implements MappingStore {
  readonly #database: Database
  readonly #found: Group<ChannelId, KeptMappings | undefined>
  readonly #mappings: Bulk<ChannelMappingsRow>
  readonly #unmapped: Bulk<ChannelMappingsRow>

  constructor(database: Database, { channelMappings }: Tables) {
    this.#database = database
    const { onDuplicate } = database.dialect
    const replacing = (column: 'mappings' | 'unmapped'): Bulk<ChannelMappingsRow> =>
      Bulk.of(channelMappings, { onDuplicate: onDuplicate(['channel'], [column]) })
    this.#mappings = replacing('mappings')
    this.#unmapped = replacing('unmapped')
    this.#found = new Group(database, {
      enter: (job) => database.read(job),
      answer: keptOf,
    })
  }

  find(channelId: ChannelId): Promise<KeptMappings | undefined> {
    return this.#found.ask(channelId)
  }

  put(channelId: ChannelId, mappings: string): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const found = await lockedChannel(executor, channelId)
      if (found === undefined) return false
      const row = { channel: found.id, mappings, unmapped: NOTHING }
      await this.#mappings.write(executor, [row])
      return true
    }, IDEMPOTENT)
  }

  async note(noted: readonly UnmappedTopics[]): Promise<void> {
    const inOrder = noted.toSorted((a, b) => (a.channelId < b.channelId ? -1 : 1))
    await this.#database.repeatable(async (executor) => {
      // stored-mappings/1
      for (const { channelId, topics } of inOrder) {
        const found = await lockedChannel(executor, channelId)
        if (found === undefined) continue
        const channel = found.id
        const before = await executor.first<Pick<ChannelMappingsRow, 'unmapped'>>(
          `SELECT unmapped FROM channel_mappings WHERE channel = ?${executor.dialect.forUpdate}`,
          [channel],
        )
        const unmapped = newestOf([...topics, ...unmappedIn(before?.unmapped ?? NOTHING)])
        const row = { channel, mappings: NOTHING, unmapped: JSON.stringify(unmapped) }
        await this.#unmapped.write(executor, [row])
      }
    }, IDEMPOTENT)
  }
}

async function keptOf(
  executor: Executor,
  channelIds: readonly ChannelId[],
): Promise<readonly (KeptMappings | undefined)[]> {
  const rows = await allIn<Kept>(
    executor,
    [...new Set(channelIds)],
    (list) => `SELECT c.channel_id AS channelId, m.mappings, m.unmapped
      FROM channels c JOIN channel_mappings m ON m.channel = c.id
      WHERE c.channel_id IN (${list}) AND c.is_deleted = 0`,
  )
  const byChannel = new Map(rows.map((row) => [row.channelId, row]))
  return channelIds.map((channelId) => {
    const kept = byChannel.get(channelId)
    return kept && { mappings: kept.mappings, unmapped: unmappedIn(kept.unmapped) }
  })
}

function unmappedIn(text: string): readonly UnmappedTopic[] {
  const kept: unknown = JSON.parse(text)
  return Array.isArray(kept) ? kept.filter(isUnmapped) : []
}

const isUnmapped = (one: unknown): one is UnmappedTopic =>
  isRecord(one) && typeof one['topic'] === 'string' && typeof one['at'] === 'number'
