// The lines of the overview begin with the last hour, which is read for Things that a person looks
// at: twenty at once, and one request after the other.

import { afterDelay, nowMs } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { readSeriesOfThings } from './series.ts'

const HOUR_MS = 3_600_000
/** The gateway reads no more Things at once. */
const THINGS_MAX = 20
/** A list that is scrolled is read where it rests. */
const REST_MS = 150
/** Who scrolls on sees the newest of these. */
const WAITING_MAX = 200

/** By channel the Things whose lines are read next, each with its attr. */
const waiting = new WeakMap<LiveChannel, Map<string, string>>()

/** Watches a Thing that a person looks at, with the last hour of its line. */
export function lookAt(channel: LiveChannel, thingId: string): void {
  const attr = channel.isCurrent.peek() ? channel.look(thingId) : undefined
  if (attr === undefined) return
  const known = waiting.get(channel)
  if (known === undefined) {
    waiting.set(channel, new Map([[thingId, attr]]))
    afterDelay(REST_MS, () => void readAll(channel))
    return
  }
  known.set(thingId, attr)
  const [oldest] = known.keys()
  if (known.size > WAITING_MAX && oldest !== undefined) known.delete(oldest)
}

async function readAll(channel: LiveChannel): Promise<void> {
  const queue = waiting.get(channel) ?? new Map<string, string>()
  while (queue.size > 0) {
    const [[, attr] = []] = queue
    if (attr === undefined) break
    const ids = [...queue].filter(([, each]) => each === attr).map(([id]) => id)
    const chosen = ids.slice(-THINGS_MAX)
    for (const id of chosen) queue.delete(id)
    // Without an answer a line begins now.
    const courses = await readSeriesOfThings(channel.id, chosen, {
      attrs: [attr],
      fromMs: nowMs() - HOUR_MS,
      toMs: nowMs(),
    }).catch(() => new Map<string, never>())
    for (const [id, course] of courses) channel.recall(id, attr, course)
    channel.thingsDrawn.value += 1
  }
  waiting.delete(channel)
}
