// Submissions of every kind, many of which have no effect: repeats, late data, and changes to what
// has ended.

import type { ChannelId } from '#domain/identity'
import { PASSWORD } from './device.ts'
import type { Submission } from './load.ts'

const AT = 1_790_000_000_000
const LATE_MS = 1_000
const IDS = 12

/** Gives submissions one after the other. Those with an op_id of a client come several times. */
export function variedLoad(
  channels: readonly ChannelId[],
  random: (below: number) => number,
): () => Submission {
  const runId = random(1e9)
  let count = 0
  return () => {
    count += 1
    const at = random(channels.length)
    const credentials = { channel_id: channels[at], password: PASSWORD }
    const time = AT + random(20) * LATE_MS
    const id = random(IDS)
    const attrs = { value: count, [`key${random(5)}`]: random(3) === 0 ? null : `text é ${count}` }
    const thing = { ...credentials, thing_id: `thing-${id}`, observed_at: time, attrs }
    const event = { ...credentials, event_id: `event-${id}`, event_time: time, attrs }
    const kind = random(20)
    switch (kind) {
      case 0:
      case 1:
        return { path: '/message', body: { ...credentials, title: `Message ${count} ☀` } }
      case 2:
      case 3: {
        // One content for one op_id: a repeat, not a conflict.
        const op_id = `repeat-${runId}-${at}-${random(1 + Math.floor(count / 200))}`
        return { path: '/message', body: { ...credentials, op_id, title: op_id } }
      }
      case 4: {
        const body = { ...credentials, event_time: time, title: `Event ${count}`, attrs }
        return { path: '/event/create', body }
      }
      case 5:
      case 6:
        return { path: '/event/update', body: { ...event, status: `status ${count}` } }
      case 7:
        return { path: '/event/close', body: random(4) === 0 ? event : { ...event, tags: [] } }
      case 8:
        return { path: '/thing/create', body: { ...credentials, observed_at: time, attrs } }
      case 9:
        return { path: '/thing/archive', body: thing }
      case 10: {
        // Seldom, so that not every Thing ends at once.
        const path = random(8) === 0 ? '/thing/delete' : '/thing/update'
        return { path, body: thing }
      }
      default:
        return { path: '/thing/update', body: { ...thing, title: `Thing ${random(4)}` } }
    }
  }
}
