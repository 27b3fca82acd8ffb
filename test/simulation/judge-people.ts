// The judge of people: what an Event's entries say about acknowledgements, reminders and levels.

import type { Entry } from './judge.ts'
import type { Observations } from './observations.ts'
import { LEVEL_SECONDS, SNOOZE_MS } from './people.ts'

const ACTIONS: ReadonlySet<string> = new Set(['acknowledge', 'remind', 'escalate'])
/** An entry that no sender and no rule has made. */
export const isOfPeople = ({ action }: Pick<Entry, 'action'>): boolean => ACTIONS.has(action)

const SENTENCE = 'an Event asks for people until somebody has it'
/** Clocks that nobody sets differ by less; deadlines are late by less in a healthy gateway. */
const MARGIN_MS = 10_000

interface Asking {
  readonly eventId: string
  readonly isAsking: boolean
  readonly firstAt: number
  reminders: number
  level: number
  held: { readonly until: number } | undefined
}

interface Read {
  readonly reminders?: number
  readonly level?: number
  readonly snoozed_until?: number
}

/** Adds a broken sentence for everything that is wrong. `entries` are in seq order. */
export function judgePeople(
  observations: Observations,
  entries: readonly Entry[],
  { isRight, endMs }: { readonly isRight: boolean; readonly endMs: number },
): void {
  const events = new Map<string, Asking>()
  const opIds = new Set<string>()
  for (const entry of entries) {
    if (entry.model !== 'event') continue
    opIds.add(entry.opId)
    const event = events.get(entry.entityId)
    if (event === undefined) events.set(entry.entityId, begun(entry))
    else if (isOfPeople(entry)) {
      const wrong = take(event, entry)
      if (wrong !== undefined)
        observations.break(SENTENCE, `${wrong} at ${entry.seq} of ${entry.channelId}`)
    } else if (entry.action === 'close') events.delete(entry.entityId)
  }
  if (!isRight) return
  for (const event of events.values()) {
    const missing = missingAt(event, endMs - MARGIN_MS)
    if (missing !== undefined) observations.break(SENTENCE, `${event.eventId} ${missing}`)
  }
  const channels = new Set(entries.map(({ channelId }) => channelId))
  for (const [opId, { channelId }] of observations.acknowledged) {
    if (!channels.has(channelId) || opIds.has(opId)) continue
    observations.break(SENTENCE, `the acknowledgement ${opId} has no entry`)
  }
}

const begun = ({ entityId, acceptedAt, payload }: Entry): Asking => ({
  eventId: entityId,
  isAsking: payload.includes('"remind_every"'),
  firstAt: acceptedAt,
  reminders: 0,
  level: 0,
  held: undefined,
})

/** Takes an entry; returns a sentence when it is wrong. */
function take(event: Asking, { action, acceptedAt, payload }: Entry): string | undefined {
  const { reminders = 0, level = 0, snoozed_until: until = Infinity } = JSON.parse(payload) as Read
  if (action === 'acknowledge') {
    event.held = { until }
    return undefined
  }
  if (!event.isAsking) return `${event.eventId} did not ask for anybody`
  const { held } = event
  if (held !== undefined && (action !== 'remind' || acceptedAt < held.until)) {
    return `a ${action} of ${event.eventId}, which somebody has`
  }
  event.held = undefined
  if (action === 'remind') {
    event.reminders += 1
    if (reminders !== event.reminders) return `reminder ${reminders} after ${event.reminders - 1}`
    return undefined
  }
  if (level <= event.level) return `level ${level} after ${event.level}`
  event.level = level
  return undefined
}

/** What an Event lacks that was due by a time. */
function missingAt({ isAsking, held, firstAt, level, reminders }: Asking, now: number) {
  if (!isAsking) return undefined
  if (held !== undefined) return held.until < now ? 'is not reminded of after a snooze' : undefined
  const due = LEVEL_SECONDS.filter((after) => firstAt + after * 1_000 < now).length
  if (level < due) return `has level ${level} in place of ${due}`
  const isLong = firstAt + (LEVEL_SECONDS.at(-1) ?? 0) * 1_000 + 2 * SNOOZE_MS < now
  return isLong && reminders === 0 ? 'is never reminded of' : undefined
}
