// The port of the store for the hooks of channels: what owners set, and which alarms are open.

import type { ChannelId } from './identity.ts'

/** What the owner of a channel has set, each as a JSON text. */
export interface KeptHooks {
  /** The list of mappings of the kind `json`. */
  readonly mappings: string
  /** Secrets, by the kinds of hooks whose payloads they sign. */
  readonly secrets: string
}

/** The Event of an alarm whose tool does not tell when the alarm began. */
export interface Episode {
  readonly channelId: ChannelId
  /** What is in alarm: 32 hex characters. */
  readonly source: string
  readonly eventId: string
}

/** Such alarms of which a channel has the newest Event; those that are open are among them. */
export const EPISODES_MAX = 1_000

export interface KeptEpisode {
  readonly eventId: string
  readonly endedAt: number
}

export interface HookStore {
  /** Undefined when the owner has set nothing, or the channel does not exist. */
  find(channelId: ChannelId): Promise<KeptHooks | undefined>
  /** Keeps these in place of those before; false for no such channel. */
  put(channelId: ChannelId, hooks: KeptHooks): Promise<boolean>
  /** The newest Event of an alarm, and the Unix milliseconds of its end; 0 while it is open. */
  episode(channelId: ChannelId, source: string): Promise<KeptEpisode | undefined>
  /** Keeps the Event of an alarm, unless the alarm has another one that is open. */
  begin(episode: Episode): Promise<'begun' | 'other' | 'full' | 'no-channel'>
  /** Marks the Event as ended: the alarm gets another one when it comes back. */
  end(episode: Episode, endedAt: number): Promise<void>
}
