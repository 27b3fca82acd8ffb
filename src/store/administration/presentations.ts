// How attrs of Things are shown: what people set for a channel, and what its devices say.

import { withDiscovered } from '#domain/history/presentation'
import type {
  Discovered,
  DiscoveredAttrs,
  KeptPresentation,
  PresentationStore,
} from '#domain/history/presentation'
import type { ChannelId } from '#domain/identity'
import type { Tables } from '#src/store/entities/tables'
import type { Database } from '#src/store/jobs/database'
import { ChannelDocuments } from './channel-documents.ts'

export class Presentations implements PresentationStore {
  readonly #documents: ChannelDocuments<keyof KeptPresentation>

  constructor(database: Database, { channelPresentations }: Tables) {
    const empty = { presentation: '[]', discovered: '{}' }
    this.#documents = new ChannelDocuments(database, channelPresentations, empty)
  }

  find(channelId: ChannelId): Promise<KeptPresentation | undefined> {
    return this.#documents.find(channelId)
  }

  put(channelId: ChannelId, presentation: string): Promise<boolean> {
    return this.#documents.put(channelId, { presentation })
  }

  discover(discovered: readonly DiscoveredAttrs[]): Promise<void> {
    const notes = discovered.map(({ channelId, attrs }) => ({
      channelId,
      noted: (before: string) =>
        JSON.stringify(withDiscovered(JSON.parse(before) as Discovered, Object.entries(attrs))),
    }))
    return this.#documents.note('discovered', notes)
  }
}
