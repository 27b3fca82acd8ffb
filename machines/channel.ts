// The machine of a channel: asleep until it knows its head, then turn by turn.
//
//                       ┌─ take ─┐
//   asleep ── load ──▶ awake ◀───┘
//      ▲                 │
//      └───── failed ────┘
//
// A successful commit sends no signal, so a turn costs one signal.
//
// Invariants:
//   channel/1. A turn builds on the decisions of the turn before, which may still be committing.
//     The newest turn's decisions stay apart, in `decided`.
//   channel/2. The channel trusts its memory as long as every commit answers. A commit that failed
//     may still have happened: then the channel forgets everything, also the turn that it built on
//     that commit, and loads again.
//   W9. The entries of a decision take the next seqs, one after the other: otherwise the submission
//     is a defect and changes nothing.
//   channel/3. The memory of entities is bounded: the channel forgets the least recently touched
//     first, and between turns only. So at its turn it still has every entity that the turn did not
//     load because `isKnown` was true.

import { createMachine, fromTransition } from 'xstate'

import type { Event, Thing } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { Operation } from '#domain/operation'
import type { ChannelHead } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { decideEvent, decideMessage, decideThing, operationOf, refusal } from './decide.ts'
import type { Change, Decision, Rules } from './decide.ts'
import { tableOf } from './table.ts'

export interface ChannelRules extends Rules {
  /** Things that a channel remembers between turns at most, and as many Events. (channel/3) */
  readonly rememberedMax: number
  /**
   * Adds changes that follow from a decision, for instance the Event that a reading opens; absent
   * without any. Pure, as every decision is. (W3) `headSeq`: the newest seq behind the decision.
   */
  readonly consequences?: (
    submission: Submission,
    decision: Decision,
    headSeq: number,
  ) => readonly Change[]
}

/** Entities by id; the most recently touched stand last. */
export interface Memory {
  readonly things: Map<string, Thing>
  readonly events: Map<string, Event>
}

/** A channel's input to a turn. */
export interface TurnInput {
  readonly submissions: readonly Submission[]
  /** Entities that the store read for this turn, beside the remembered ones. */
  readonly things: readonly Thing[]
  readonly events: readonly Event[]
}

/** A turn writes and sends these, in the order of its submissions. */
export interface Effects {
  readonly entries: FeedEntry[]
  readonly operations: Operation[]
  /** Submissions that a defect kept from being decided. (W6) */
  readonly defects: { readonly submission: Submission; readonly error: string }[]
}

/** The channel after a turn, as far as the turn touched it. */
export interface Decided {
  readonly head: ChannelHead
  readonly things: ReadonlyMap<string, Thing>
  readonly events: ReadonlyMap<string, Event>
}

interface ChannelContext extends ChannelRules {
  readonly state: 'asleep' | 'awake'
  readonly head: ChannelHead | undefined
  readonly memory: Memory
  /** The newest turn's decisions. The next turn takes them as committed. (channel/2) */
  readonly decided: Decided | undefined
}

/** True when a channel knows an entity without asking the store. */
export function isKnown(
  { memory, decided }: Pick<ChannelContext, 'memory' | 'decided'>,
  kind: keyof Memory,
  id: string,
): boolean {
  return decided?.[kind].has(id) === true || memory[kind].has(id)
}

type ChannelSignal =
  | { readonly type: 'load'; readonly head: ChannelHead }
  /** The turn fills `effects`, which the sender owns, so that no channel keeps sent effects. */
  | { readonly type: 'take'; readonly turn: TurnInput; readonly effects: Effects }
  | { readonly type: 'failed' }

const emptyMemory = (): Memory => ({ things: new Map(), events: new Map() })

export const channelMachine = createMachine({
  id: 'channel',
  initial: 'asleep',
  states: {
    asleep: { on: { load: 'awake' } },
    awake: { on: { take: 'awake', failed: 'asleep' } },
  },
})

const table = tableOf(channelMachine)

/**
 * The logic of a channel's actor: the machine above as a table, and an action for each signal.
 * Running the machine itself as the actor's logic costs 3 µs a signal, as much as deciding a
 * submission; this table costs 0.2 µs.
 */
export const channelLogic = fromTransition(
  (channel: ChannelContext, signal: ChannelSignal): ChannelContext => {
    if (table.get(channel.state)?.has(signal.type) !== true) return channel
    switch (signal.type) {
      case 'load':
        return { ...channel, state: 'awake', head: signal.head }
      case 'take':
        return takeTurn(channel, signal)
      case 'failed':
        return asleep(channel) // channel/2
    }
  },
  ({ input }: { readonly input: ChannelRules }) => asleep(input),
)

const asleep = ({ endedLifeMs, rememberedMax, consequences }: ChannelRules): ChannelContext => ({
  endedLifeMs,
  rememberedMax,
  ...(consequences !== undefined && { consequences }),
  state: 'asleep',
  head: undefined,
  memory: emptyMemory(),
  decided: undefined,
})

type Take = Extract<ChannelSignal, { readonly type: 'take' }>

/**
 * channel/1: remembers the decisions of the turn before, then decides this turn. It forgets
 * afterwards only: the store did not load the entities that the channel knows. (channel/3)
 */
function takeTurn(channel: ChannelContext, signal: Take): ChannelContext {
  const { decided: before, memory } = channel
  if (before === undefined) return { ...channel, decided: decideTurn(channel, signal) }
  touch(memory.things, before.things)
  touch(memory.events, before.events)
  const remembering = { ...channel, head: before.head }
  const decided = decideTurn(remembering, signal)
  forgetOldest(memory.things, channel)
  forgetOldest(memory.events, channel)
  return { ...remembering, decided }
}

function touch<Kept>(kept: Map<string, Kept>, touched: ReadonlyMap<string, Kept>): void {
  for (const [id, entity] of touched) {
    kept.delete(id)
    kept.set(id, entity)
  }
}

function forgetOldest<Kept>(kept: Map<string, Kept>, { rememberedMax }: ChannelRules): void {
  for (const id of kept.keys()) {
    if (kept.size <= rememberedMax) break // channel/3
    kept.delete(id)
  }
}

/** The state of a running turn. */
interface Draft extends Effects {
  head: ChannelHead
  readonly things: Map<string, Thing>
  readonly events: Map<string, Event>
}

function decideTurn(context: ChannelContext, { turn, effects }: Take): Decided {
  const { head } = context
  if (head === undefined) throw new Error('a channel without a head takes no turn')
  const loaded = { things: byId(turn.things), events: byId(turn.events) }
  const draft: Draft = { head, things: new Map(), events: new Map(), ...effects }
  for (const submission of turn.submissions) {
    try {
      const decision = decideOne(submission, { draft, loaded, context })
      keep(draft, withConsequences(submission, decision, { draft, context }))
    } catch (error) {
      // W6: a defect in one submission stops that one alone; the others go on.
      draft.defects.push({ submission, error: String(error) })
      draft.operations.push(operationOf(submission, 'internal_error'))
    }
  }
  return { head: draft.head, things: draft.things, events: draft.events }
}

/** Most turns read nothing from the store: the channel remembers their entities. */
const NONE: ReadonlyMap<string, never> = new Map<string, never>()

const byId = <Item extends Thing | Event>(items: readonly Item[]): ReadonlyMap<string, Item> =>
  items.length === 0 ? NONE : new Map(items.map((item) => [item.id, item]))

interface Sources {
  readonly draft: Draft
  readonly loaded: Pick<Decided, keyof Memory>
  readonly context: ChannelContext
}

function decideOne(submission: Submission, { draft, loaded, context }: Sources): Decision {
  const { memory, endedLifeMs } = context
  const rules = { headSeq: draft.head.headSeq, endedLifeMs }
  const id = submission.entityId
  switch (submission.model) {
    case 'message':
      return decideMessage(submission, rules.headSeq)
    case 'thing': {
      const kept = draft.things.get(id) ?? loaded.things.get(id) ?? memory.things.get(id)
      return decideThing(submission, kept, rules)
    }
    case 'event': {
      const kept = draft.events.get(id) ?? loaded.events.get(id) ?? memory.events.get(id)
      return decideEvent(submission, kept, rules)
    }
  }
}

function withConsequences(
  submission: Submission,
  decision: Decision,
  { draft, context: { consequences } }: Pick<Sources, 'draft' | 'context'>,
): Decision {
  if (consequences === undefined) return decision
  const headSeq = decision.changes.at(-1)?.entry?.seq ?? draft.head.headSeq
  const more = consequences(submission, decision, headSeq)
  return more.length === 0 ? decision : { ...decision, changes: [...decision.changes, ...more] }
}

function keep(draft: Draft, { operation, changes }: Decision): void {
  checkSeqs(draft.head, changes)
  draft.operations.push(operation)
  for (const change of changes) apply(draft, change)
}

/** W9 */
function checkSeqs({ headSeq }: ChannelHead, changes: readonly Change[]): void {
  let last = headSeq
  for (const { entry } of changes) {
    if (entry === undefined) continue
    last += 1
    if (entry.seq !== last) throw new Error(`an entry has seq ${entry.seq} in place of ${last}`)
  }
}

function apply(draft: Draft, { thing, event, entry, liveThings, openEvents }: Change): void {
  if (thing !== undefined) draft.things.set(thing.id, thing)
  if (event !== undefined) draft.events.set(event.id, event)
  if (entry !== undefined) draft.entries.push(entry)
  if (entry === undefined && liveThings === 0 && openEvents === 0) return
  draft.head = {
    ...draft.head,
    headSeq: entry?.seq ?? draft.head.headSeq,
    things: draft.head.things + liveThings,
    openEvents: draft.head.openEvents + openEvents,
  }
}

/** Every submission of a channel that does not exist is refused. */
export function refuseAll(submissions: readonly Submission[]): readonly Operation[] {
  return submissions.map((submission) => refusal(submission, 'channel_not_found').operation)
}
