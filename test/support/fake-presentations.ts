// The presentations of channels in memory.

import { withDiscovered } from '#domain/history/presentation'
import type {
  Discovered,
  DiscoveredAttrs,
  KeptPresentation,
  PresentationStore,
} from '#domain/history/presentation'
import type { ChannelId } from '#domain/identity'

const NONE: KeptPresentation = { presentation: '[]', discovered: '{}' }

export class FakePresentations implements PresentationStore {
  readonly kept = new Map<ChannelId, KeptPresentation>()
  /** Those of `discover`. */
  writes = 0

  async find(channelId: ChannelId): Promise<KeptPresentation | undefined> {
    return this.kept.get(channelId)
  }

  async put(channelId: ChannelId, presentation: string): Promise<boolean> {
    this.kept.set(channelId, { ...(this.kept.get(channelId) ?? NONE), presentation })
    return true
  }

  async discover(discovered: readonly DiscoveredAttrs[]): Promise<void> {
    this.writes += 1
    for (const { channelId, attrs } of discovered) {
      const kept = this.kept.get(channelId) ?? NONE
      const known = JSON.parse(kept.discovered) as Discovered
      const all = withDiscovered(known, Object.entries(attrs))
      this.kept.set(channelId, { ...kept, discovered: JSON.stringify(all) })
    }
  }
}
