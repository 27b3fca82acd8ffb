// Channels with a key each, the same in the process that stores them and in the one that sends.

import { channelIdFromBytes } from '#domain/identity'
import type { ChannelId } from '#domain/identity'

export interface KeyedChannel {
  readonly channelId: ChannelId
  readonly key: string
}

/** So many channels, each with its key. */
export const keyedChannels = (count: number): readonly KeyedChannel[] =>
  Array.from({ length: count }, (_, number) => {
    const bytes = Buffer.alloc(16)
    bytes.writeUInt32BE(number + 1)
    return { channelId: channelIdFromBytes(bytes), key: String(number).padStart(43, 'k') }
  })

/** The keys of the same channels. */
export const keysOf = (count: number): readonly string[] =>
  keyedChannels(count).map(({ key }) => key)
