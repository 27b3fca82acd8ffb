// Random logs, and the state that a plain fold over them leaves in a store: one submission after
// the other, without turns, memory or faults.

import * as fc from 'fast-check'

import type { LogEntry } from '#domain/lane'
import type { EventSubmission, Submission, ThingSubmission } from '#domain/submission'
import { operationOf } from '#machines/decide'
import { decideEvent, decideMessage, decideThing, refusal } from '#test/support/single-decision'
import type { Decision } from '#test/support/single-decision'
import { MemoryTurnStore } from '#test/support/memory-turn-store'
import { channel, event, message, thing } from '#test/support/submissions'

export const ENDED_LIFE_MS = 40
/** The channel with this number does not exist. */
const LOST = 3
/** A channel keeps to one lane. */
export const laneOfChannel = (number: number): number => number % 2

// ---- random logs --------------------------------------------------------------------------------

export type Item = LogEntry['submissions'][number]

const parts = fc.record({
  number: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, LOST),
  id: fc.constantFrom('a', 'a', 'a', 'b'),
  at: fc.integer({ min: 1, max: 5 }),
  pauseMs: fc.integer({ min: 0, max: 30 }),
  attr: fc.constantFrom(null, 1, 2),
})

const kinds = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('message', 'create-thing', 'unreadable') },
  { weight: 2, arbitrary: fc.constantFrom('claimed-x', 'claimed-y') },
  {
    weight: 8,
    arbitrary: fc.constantFrom('update', 'update', 'update', 'update', 'archive', 'delete'),
  },
  { weight: 4, arbitrary: fc.constantFrom('event-update', 'event-close') },
)

const submissions = fc.record({
  parts,
  kind: kinds,
  isPoison: fc.integer({ min: 0, max: 19 }).map((number) => number === 0),
})
export type Made = typeof submissions extends fc.Arbitrary<infer One> ? One : never

export const batches = fc.array(fc.array(submissions, { minLength: 1, maxLength: 6 }), {
  minLength: 4,
  maxLength: 12,
})

let now = 0
let created = 0

export function itemOf({ kind, parts: { number, id, at, pauseMs, attr } }: Made): Item {
  now += pauseMs
  const more = { channelId: channel(number), acceptedAt: now, at, attrs: { k: attr } }
  switch (kind) {
    case 'message':
      return message(more)
    case 'claimed-x':
    case 'claimed-y':
      // A chosen op_id belongs to one lane here: between two lanes there is no order.
      return message({ ...more, claims: true, opId: `${kind}-${laneOfChannel(number)}` })
    case 'unreadable':
      return { model: 'unreadable', payload: `${kind} ${now}`, error: 'no submission' }
    case 'create-thing':
      created += 1
      return thing('create', `made-by-gateway-${created}`, more)
    case 'event-update':
      return event('update', id, more)
    case 'event-close':
      return event('close', id, more)
    case 'update':
    case 'archive':
    case 'delete':
      return thing(kind, id, more)
  }
}

export const isOfEntity = (item: Item): item is ThingSubmission | EventSubmission =>
  item.model === 'thing' || item.model === 'event'

// ---- the plain fold -----------------------------------------------------------------------------

export const newStore = (): MemoryTurnStore => new MemoryTurnStore([0, 1, 2].map(channel))

function decide(submission: Submission, store: MemoryTurnStore): Decision {
  const { channelId, entityId: id } = submission
  const headSeq = store.heads.get(channelId)?.headSeq ?? 0
  const rules = { headSeq, endedLifeMs: ENDED_LIFE_MS }
  switch (submission.model) {
    case 'rule':
    case 'cancellation':
      throw new Error('this fold has no rules, and no Messages that wait')
    case 'message':
      return decideMessage(submission, headSeq)
    case 'thing':
      return decideThing(submission, store.thing(channelId, id), rules)
    case 'event':
      return decideEvent(submission, store.event(channelId, id), rules)
  }
}

/** The writes of one submission, beside the move of its lane. */
/** A tick has no effect. */
function writesFor(
  submission: Item,
  { store, place, isSetAside }: { store: MemoryTurnStore; place: number; isSetAside: boolean },
) {
  const none = { channels: [], operations: [], deadLetters: [] }
  const letter = { lane: 0, position: place, index: 0, error: '', at: 0 }
  if (submission.model === 'unreadable') {
    return { ...none, deadLetters: [{ ...letter, payload: submission.payload }] }
  }
  if (submission.model === 'tick') return none
  if (isSetAside) {
    const isUsed = store.operations.has(submission.opId)
    const operations = isUsed ? [] : [operationOf(submission, 'internal_error')]
    const deadLetters = [{ ...letter, payload: JSON.stringify(submission) }]
    return { ...none, operations, deadLetters }
  }
  const head = store.heads.get(submission.channelId)
  const isRepeat =
    submission.model === 'message' && submission.claimed && store.operations.has(submission.opId)
  if (isRepeat) return none
  if (head === undefined) {
    return { ...none, operations: [refusal(submission, 'channel_not_found').operation] }
  }
  const {
    operation,
    entry,
    late,
    thing: oneThing,
    event: oneEvent,
    ...counts
  } = decide(submission, store)
  if (entry !== undefined && store.poison.has(submission.opId)) {
    const operations = [operationOf(submission, 'internal_error')]
    return {
      ...none,
      operations,
      deadLetters: [{ ...letter, payload: JSON.stringify(submission) }],
    }
  }
  const headAfter = {
    ...head,
    headSeq: entry?.seq ?? head.headSeq,
    things: head.things + counts.liveThings,
    openEvents: head.openEvents + counts.openEvents,
  }
  const written = {
    head: headAfter,
    entries: entry === undefined ? [] : [entry],
    late: late === undefined ? [] : [late],
    things: oneThing === undefined ? [] : [oneThing],
    events: oneEvent === undefined ? [] : [oneEvent],
  }
  return { ...none, operations: [operation], channels: [written] }
}

/** Applies a lane submission by submission; those of `setAside` become dead letters. */
export async function fold(
  store: MemoryTurnStore,
  lane: number,
  items: readonly Item[],
  setAside: ReadonlySet<Item> = new Set(),
): Promise<void> {
  let from = await store.takeLane({ lane, epoch: 1 })
  for (const item of items) {
    if (from === 'fenced') return
    const to = from + 1
    const writes = writesFor(item, { store, place: to, isSetAside: setAside.has(item) })
    const deadLetters = writes.deadLetters.map((letter) => ({ ...letter, lane }))
    await store.commit({ ...writes, deadLetters, lanes: [{ lane, epoch: 1, from, to }] })
    from = to
  }
}
