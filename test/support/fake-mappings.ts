// The mappings of channels in memory.

import type { ChannelId } from '#domain/identity'
import { newestOf } from '#domain/mqtt/mappings'
import type { KeptMappings, MappingStore, UnmappedTopics } from '#domain/mqtt/mappings'

export class FakeMappings implements MappingStore {
  readonly kept = new Map<ChannelId, KeptMappings>()
  /** Reads, and those of `note`. */
  reads = 0
  writes = 0
  /** Rejects while it is set. */
  isAway = false

  async find(channelId: ChannelId): Promise<KeptMappings | undefined> {
    this.reads += 1
    if (this.isAway) throw new Error('the store is away')
    return this.kept.get(channelId)
  }

  async put(channelId: ChannelId, mappings: string): Promise<boolean> {
    this.kept.set(channelId, { mappings, unmapped: this.kept.get(channelId)?.unmapped ?? [] })
    return true
  }

  async note(noted: readonly UnmappedTopics[]): Promise<void> {
    this.writes += 1
    for (const { channelId, topics } of noted) {
      const { mappings = '[]', unmapped = [] } = this.kept.get(channelId) ?? {}
      this.kept.set(channelId, { mappings, unmapped: newestOf([...topics, ...unmapped]) })
    }
  }
}
