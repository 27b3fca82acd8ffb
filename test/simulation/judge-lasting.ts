// The judge of a rule with `for`: each time that a level has stayed high for long enough opens one
// Event, which says since when.

import type { Entry } from './judge.ts'
import type { JudgedChannel } from './judge-rules.ts'
import type { Observations, Sent } from './observations.ts'
import { LASTING_MS, LEVELS, levelOf } from './rules-of-channels.ts'

/** A time for which the level of a Thing is high. */
interface High {
  readonly since: number
  hasFired: boolean
}

interface Watched {
  observedAt: number
  high: High | undefined
  /** The id of its open Event. */
  open: string | undefined
}

/** A reading that ended such a time. */
interface Ended {
  readonly thing: string
  readonly high: High
  /** True when it was so long that no clock can be in doubt. */
  readonly isLong: boolean
  readonly where: string
}

const SENTENCE = 'a rule with a duration fires exactly once'
/** Clocks that nobody sets differ by less. */
const MARGIN_MS = 3_000

/** Adds a broken sentence for everything that is wrong. */
export function judgeLasting(observations: Observations, judged: JudgedChannel): void {
  const { entries, byToken, tokenOf, isRight } = judged
  const things = new Map<string, Watched>()
  let ended: Ended | undefined
  const fail = (detail: string): void => observations.break(SENTENCE, detail)
  const settle = (): void => {
    if (ended === undefined) return
    const { thing, high, isLong, where } = ended
    if (things.get(thing)?.open !== undefined) fail(`nothing is closed at ${where}`)
    if (isRight && isLong && !high.hasFired) fail(`nothing was opened before ${where}`)
    ended = undefined
  }
  for (const entry of entries) {
    const token = tokenOf(entry)
    const sent = token === undefined ? undefined : byToken.get(token)
    const where = `${entry.seq} of ${entry.channelId}`
    if (sent !== undefined) {
      settle()
      ended = sent.model === 'thing' ? read(things, sent, { entry, where }) : undefined
    } else {
      const wrong = entry.action === 'create' ? open(things, entry, ended) : close(things, entry)
      if (wrong !== undefined) fail(`${wrong} at ${where}`)
    }
  }
  settle()
  for (const [thing, { high, open: id }] of things) {
    const channel = entries[0]?.channelId
    if (high === undefined && id !== undefined) fail(`${thing} of ${channel} has an Event`)
    if (isRight && high !== undefined && id === undefined)
      fail(`${thing} of ${channel} has no Event`)
  }
}

/** Takes a reading; gives what it ends. */
function read(
  things: Map<string, Watched>,
  { thingId: thing, observedAt, token }: Sent,
  { entry, where }: { readonly entry: Entry; readonly where: string },
): Ended | undefined {
  const watched = things.get(thing) ?? { observedAt: 0, high: undefined, open: undefined }
  things.set(thing, watched)
  if (observedAt <= watched.observedAt) return undefined
  watched.observedAt = observedAt
  const { high } = watched
  const at = Math.min(observedAt, entry.acceptedAt) // A device's clock may be ahead. (R3)
  if (levelOf(token) > LEVELS[0]) {
    watched.high ??= { since: at, hasFired: false }
    return undefined
  }
  watched.high = undefined
  if (high === undefined) return undefined
  const isLong = at - high.since >= LASTING_MS + MARGIN_MS
  return { thing, high, isLong, where }
}

/** Takes an Event that is opened; gives what is wrong with it. */
function open(
  things: ReadonlyMap<string, Watched>,
  { entityId, payload }: Entry,
  ended: Ended | undefined,
): string | undefined {
  const { thing_id: thing = '', started_at: since } = JSON.parse(payload) as Opened
  const watched = things.get(thing)
  if (watched === undefined) return `an Event about ${thing}`
  if (watched.open !== undefined) return `a second Event about ${thing}`
  watched.open = entityId
  // A reading may come behind the end of the duration, and end what it has to open.
  const high = ended?.thing === thing ? ended.high : watched.high
  if (high === undefined) return `${thing} is not high, and has an Event`
  if (high.hasFired) return `a second Event for one time of ${thing}`
  high.hasFired = true
  return high.since === since ? undefined : `${thing} is high since ${high.since}, not ${since}`
}

function close(things: ReadonlyMap<string, Watched>, { entityId }: Entry): string | undefined {
  for (const watched of things.values()) {
    if (watched.open !== entityId) continue
    watched.open = undefined
    return watched.high === undefined ? undefined : 'the Event of a level that stays high is closed'
  }
  return `the end of ${entityId}, which is not open`
}

interface Opened {
  readonly thing_id?: string
  readonly started_at?: number
}
