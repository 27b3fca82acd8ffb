// The lines of the overview begin with the last hour, which is read for Things that a person looks
// at.

import { UNIT_MS } from '#domain/runtime'
import { afterDelay, nowMs } from '#console/state/clock.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { LineReads } from './line-reads.ts'
import { readSeriesOfThings } from './series.ts'

const REST_MS = 150

const reads = new WeakMap<LiveChannel, LineReads>()

/** Watches a Thing that a person looks at, with the last hour of its line. */
export function lookAt(channel: LiveChannel, thingId: string): void {
  const attr = channel.isCurrent.peek() ? channel.look(thingId) : undefined
  if (attr === undefined) return
  const known = reads.get(channel) ?? readsOf(channel)
  reads.set(channel, known)
  known.want(thingId, attr)
}

const readsOf = (channel: LiveChannel): LineReads =>
  new LineReads({
    rest: (begin) => void afterDelay(REST_MS, begin),
    read: async (thingIds, attr) => {
      const [fromMs, toMs] = [nowMs() - UNIT_MS.h, nowMs()]
      const about = { attrs: [attr], fromMs, toMs }
      // Without an answer a line begins now.
      const courses = await readSeriesOfThings(channel.id, thingIds, about).catch(() => [])
      for (const [id, course] of courses) channel.recall(id, attr, course)
      channel.thingsDrawn.value += 1
    },
  })
