// The mappings of channels, and the topics that nothing maps.

import type { ChannelId } from '#domain/identity'
import { newestOf } from '#domain/mqtt/mappings'
import type {
  KeptMappings,
  MappingStore,
  UnmappedTopic,
  UnmappedTopics,
} from '#domain/mqtt/mappings'
import { isRecord } from '#domain/record'
import type { Tables } from '#src/store/entities/tables'
import type { Database } from '#src/store/jobs/database'
import { ChannelDocuments } from './channel-documents.ts'

export class Mappings implements MappingStore {
  readonly #documents: ChannelDocuments<'mappings' | 'unmapped'>

  constructor(database: Database, { channelMappings }: Tables) {
    const empty = { mappings: '[]', unmapped: '[]' }
    this.#documents = new ChannelDocuments(database, channelMappings, empty)
  }

  async find(channelId: ChannelId): Promise<KeptMappings | undefined> {
    const kept = await this.#documents.find(channelId)
    return kept && { mappings: kept.mappings, unmapped: unmappedIn(kept.unmapped) }
  }

  put(channelId: ChannelId, mappings: string): Promise<boolean> {
    return this.#documents.put(channelId, { mappings })
  }

  note(unmapped: readonly UnmappedTopics[]): Promise<void> {
    const notes = unmapped.map(({ channelId, topics }) => ({
      channelId,
      noted: (before: string) => JSON.stringify(newestOf([...topics, ...unmappedIn(before)])),
    }))
    return this.#documents.note('unmapped', notes)
  }
}

function unmappedIn(text: string): readonly UnmappedTopic[] {
  const kept: unknown = JSON.parse(text)
  return Array.isArray(kept) ? kept.filter(isUnmapped) : []
}

const isUnmapped = (one: unknown): one is UnmappedTopic =>
  isRecord(one) && typeof one['topic'] === 'string' && typeof one['at'] === 'number'
