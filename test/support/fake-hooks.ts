// The hooks of channels in memory.

import type { Episode, HookStore, KeptEpisode, KeptHooks } from '#domain/hooks'
import type { ChannelId } from '#domain/identity'

export class FakeHooks implements HookStore {
  readonly kept = new Map<ChannelId, KeptHooks>()
  readonly episodes = new Map<string, KeptEpisode>()
  /** Called once before the next `begin`. */
  beforeBegin: ((episode: Episode) => void) | undefined
  isFull = false

  async find(channelId: ChannelId): Promise<KeptHooks | undefined> {
    return this.kept.get(channelId)
  }

  async put(channelId: ChannelId, hooks: KeptHooks): Promise<boolean> {
    this.kept.set(channelId, hooks)
    return true
  }

  async episode(channelId: ChannelId, source: string): Promise<KeptEpisode | undefined> {
    return this.episodes.get(channelId + source)
  }

  async begin(episode: Episode): ReturnType<HookStore['begin']> {
    const { channelId, source, eventId } = episode
    const before = this.beforeBegin
    this.beforeBegin = undefined
    before?.(episode)
    const kept = this.episodes.get(channelId + source)
    if (kept?.endedAt === 0) return kept.eventId === eventId ? 'begun' : 'other'
    if (this.isFull) return 'full'
    this.episodes.set(channelId + source, { eventId, endedAt: 0 })
    return 'begun'
  }

  async end({ channelId, source, eventId }: Episode, endedAt: number): Promise<void> {
    if (this.episodes.get(channelId + source)?.eventId !== eventId) return
    this.episodes.set(channelId + source, { eventId, endedAt })
  }
}
