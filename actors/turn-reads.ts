// Groups a turn by channel, and reads the state that the channels' actors do not remember.

import type { ChannelId, OperationId } from '#domain/identity'
import type { PutOff } from '#domain/rules/stored'
import type { ScheduledRead } from '#domain/rules/scheduled'
import type { TurnReads, TurnStore } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import type { Due } from '#machines/turn-parts'
import type { ChannelActor } from './channel.ts'
import { isOfChannel, isTick, mayBeUsed } from './turn-item.ts'
import type { Item, Turn } from './turn-item.ts'

/** What ticks of the turn found to be due. */
export type DueByChannel = ReadonlyMap<ChannelId, Due>

/**
 * Asks the store what the ticks of a turn find to be due. A tick stands first in its lane's part of
 * a turn, behind committed turns: so the answer depends on the log alone. (W3, R7)
 */
export async function dueOf(
  store: Pick<TurnStore, 'due'>,
  { items, poisoned, parkedChannels, dueMax, putsOff }: Turn,
): Promise<DueByChannel> {
  const found = new Map<ChannelId, Due>()
  for (const item of items) {
    const { submission, lane } = item
    if (submission.model !== 'tick' || poisoned?.has(item) === true || putsOff) continue
    const upTo = submission.acceptedAt
    for (const { channelId, ...due } of await store.due(lane, upTo, dueMax)) {
      if (parkedChannels?.has(channelId) !== true) found.set(channelId, { upTo, ...due })
    }
  }
  return found
}

/** W6: the first row that is due to the tick of a turn which puts it off. */
export async function putOffOf(
  store: Pick<TurnStore, 'due'>,
  { items, putsOff, nowMs }: Turn,
): Promise<PutOff | undefined> {
  const tick = items.find(isTick)
  if (putsOff !== true || tick?.submission.model !== 'tick') return undefined
  const [first] = await store.due(tick.lane, tick.submission.acceptedAt, 1)
  if (first === undefined) return undefined
  const {
    channelId,
    messages: [message] = [],
    items: [item],
  } = first
  const until = nowMs + PUT_OFF_MS
  if (message !== undefined) return { channelId, item: { opId: message.opId }, until }
  if (item === undefined) return undefined
  const thingId = 'thingId' in item ? item.thingId : ''
  return { channelId, item: { ruleId: item.ruleId, thingId }, until }
}

/** The time after which a row is tried again that the database refuses. */
const PUT_OFF_MS = 600_000

const dueThings = ({ items }: Due): readonly string[] =>
  items.flatMap((item) => ('thingId' in item ? [item.thingId] : item.thingIds))

/** The operation of a Message that a submission schedules or cancels. */
function scheduledIn(submission: Submission): readonly OperationId[] {
  if (submission.model === 'cancellation') return [submission.cancels]
  return submission.model === 'message' && submission.schedule ? [submission.opId] : NONE
}

const NONE: readonly OperationId[] = Object.freeze([])
const NONE_DUE: readonly string[] = NONE

/** True when a turn with it asks the store, which must have every turn before it. */
export const asksForWaiting = ({ submission }: Item): boolean =>
  submission.model === 'tick' || (isOfChannel(submission) && scheduledIn(submission).length > 0)

/** Submissions by channel, in order. */
export type Groups = ReadonlyMap<ChannelId, Submission[]>

/** Leaves out items that are unreadable, poisoned or parked. */
export function groupByChannel({ items, poisoned, parked }: Turn, due: DueByChannel): Groups {
  const groups = new Map<ChannelId, Submission[]>()
  for (const channelId of due.keys()) groups.set(channelId, [])
  for (const item of items) {
    const { submission } = item
    if (!isOfChannel(submission) || poisoned?.has(item) === true) continue
    if (parked?.has(item) === true) continue
    const group = groups.get(submission.channelId)
    if (group === undefined) groups.set(submission.channelId, [submission])
    else group.push(submission)
  }
  return groups
}

/**
 * Asks the store for the heads of sleeping channels, for entities that no actor remembers, and for
 * the records of op_ids that may have one.
 */
export function turnReadsOf(
  actors: readonly ChannelActor[],
  { groups, due }: { readonly groups: Groups; readonly due: DueByChannel },
  { poisoned, parked, isCareful }: Pick<Turn, 'poisoned' | 'parked' | 'isCareful'>,
): TurnReads {
  const reads = {
    channels: [] as ChannelId[],
    things: [] as { channelId: ChannelId; id: string }[],
    events: [] as { channelId: ChannelId; id: string }[],
    watched: [] as { channelId: ChannelId; id: string }[],
    operations: [] as OperationId[],
  }
  const scheduled: ScheduledRead[] = []
  for (const actor of actors) {
    const { channelId } = actor
    if (actor.isAsleep) reads.channels.push(channelId)
    const asked = new Set<string>()
    const submissions = groups.get(channelId) ?? []
    const dueHere = due.get(channelId)
    // A rule that was deleted leaves watches: a sweep, or the rule put again, meets them.
    const mayBeWatched =
      actor.hasRules || dueHere !== undefined || submissions.some(({ model }) => model === 'rule')
    const watched = (id: string): void => {
      if (!mayBeWatched) return
      if (!actor.knows('watches', id)) {
        const key = `watched ${id}`
        if (!asked.has(key)) reads.watched.push({ channelId, id })
        asked.add(key)
        return
      }
      // The channel may have forgotten an Event whose watch it remembers. (channel/3)
      for (const eventId of actor.openEventsOf(id)) {
        if (actor.knows('events', eventId) || asked.has(`events ${eventId}`)) continue
        asked.add(`events ${eventId}`)
        reads.events.push({ channelId, id: eventId })
      }
    }
    for (const id of dueHere === undefined ? NONE_DUE : dueThings(dueHere)) {
      watched(id)
      if (actor.knows('things', id) || asked.has(`things ${id}`)) continue
      asked.add(`things ${id}`)
      reads.things.push({ channelId, id })
    }
    const opIds = submissions.flatMap(scheduledIn)
    if (opIds.length > 0) scheduled.push({ channelId, opIds })
    for (const submission of submissions) {
      if (mayBeUsed(submission) || isCareful === true) reads.operations.push(submission.opId)
      if (submission.model === 'message' || submission.model === 'cancellation') continue
      if (submission.model === 'rule') {
        submission.thingIds?.forEach(watched)
        continue
      }
      if (submission.model === 'thing') watched(submission.entityId)
      if (submission.action === 'create') continue
      const kind = submission.model === 'thing' ? 'things' : 'events'
      if (actor.knows(kind, submission.entityId)) continue
      const key = `${kind} ${submission.entityId}`
      if (asked.has(key)) continue
      asked.add(key)
      const list = submission.model === 'thing' ? reads.things : reads.events
      list.push({ channelId, id: submission.entityId })
    }
  }
  for (const { submission } of [...(poisoned?.keys() ?? []), ...(parked?.keys() ?? [])]) {
    if (isOfChannel(submission)) reads.operations.push(submission.opId)
  }
  return scheduled.length === 0 ? reads : { ...reads, scheduled }
}
