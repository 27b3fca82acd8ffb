// Reads the last hour of the Things that a person looks at, two at a time. A row that is scrolled
// away before its turn is not read.

import { afterDelay, nowMs } from './clock.ts'
import { readPast } from './history.ts'
import type { LiveChannel } from './live-channel.ts'
import type { Past } from './thing-history.ts'

const AT_ONCE = 2
/** A row that is scrolled by is not looked at. */
const SEEN_MS = 250
const HOUR_MS = 3_600_000

/** Without an answer the line begins now. */
const NO_PAST: Past = { courses: new Map(), setAt: new Map() }

const waiting = new Map<string, () => Promise<void>>()
let running = 0

/** Wants the last hour of a Thing; the function that it gives ends the wish. */
export function wantPast(channel: LiveChannel, id: string): () => void {
  const key = `${channel.id}/${id}`
  if (channel.watched(id) !== undefined || !channel.isCurrent.peek()) return () => {}
  const cancel = afterDelay(SEEN_MS, () => {
    waiting.set(key, () => read(channel, id))
    run()
  })
  return () => {
    cancel()
    waiting.delete(key)
  }
}

function run(): void {
  const next = waiting.entries().next()
  if (running >= AT_ONCE || next.done === true) return
  const [key, task] = next.value
  waiting.delete(key)
  running += 1
  void task().finally(() => {
    running -= 1
    run()
  })
}

async function read(channel: LiveChannel, id: string): Promise<void> {
  const past = await readPast(channel.id, id, nowMs() - HOUR_MS).catch(() => NO_PAST)
  channel.addPast(id, past)
}
