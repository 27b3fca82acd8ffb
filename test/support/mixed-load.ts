// A mixture of submissions that each have exactly one effect, whatever order they arrive in.

import type { ChannelId } from '#domain/identity'
import { credentialsOf } from './device.ts'
import type { Submission } from './load.ts'

// One time for all: with equal times the later arrival wins, so that each update has an effect.
const AT = 1_790_000_000_000

/** Gives submissions one after the other: Thing updates mostly, Messages and Events between. */
export function mixedLoad(
  channels: readonly ChannelId[],
  random: (below: number) => number,
): () => Submission {
  let count = 0
  return () => {
    count += 1
    const channelId = channels[random(channels.length)]
    if (channelId === undefined) throw new Error('a load needs a channel')
    const credentials = credentialsOf(channelId)
    const kind = random(10)
    if (kind === 0) {
      const op_id = random(2) === 0 ? { op_id: `client-${count}-${random(1e9)}` } : {}
      return { path: '/message', body: { ...credentials, ...op_id, title: `Message ${count}` } }
    }
    if (kind === 1) {
      const body = { ...credentials, event_time: AT, title: `Event ${count}` }
      return { path: '/event/create', body }
    }
    const attrs = { value: count, [`key${random(5)}`]: `text ${count}` }
    const thing_id = `thing-${random(20)}`
    return { path: '/thing/update', body: { ...credentials, thing_id, observed_at: AT, attrs } }
  }
}
