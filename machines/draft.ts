// One turn of a channel: decides its submissions one after the other, and what follows from each by
// the channel's rules.
//
// Invariants:
//   W9. The entries of a decision take the next seqs, one after the other: otherwise the submission
//     is a defect and changes nothing.
//   R7. What a tick found to be due comes first: Messages, then rules in the order of (deadline,
//     rule, Thing).

import type { Event, Thing } from '#domain/entity'
import type { DueItem } from '#domain/rules/stored'
import type { Operation } from '#domain/operation'
import type { ChannelHead } from '#domain/store-ports'
import type { RuleSubmission, Submission, ThingSubmission } from '#domain/submission'
import type { ChannelContext, Decided, Due, Effects, Memory, Take } from './turn-parts.ts'
import { Consequences } from './consequences.ts'
import { decideEvent, decideMessage, decideThing, operationOf, refusal } from './decide.ts'
import type { Change, Decision } from './decide.ts'
import { entityBytes, watchesBytes } from './memory.ts'
import { cancel, deliver, schedule, scheduledDraft } from './scheduling.ts'
import type { ScheduledDraft } from './scheduling.ts'
import { takeRule } from './rule-changes.ts'
import { NO_WATCHES, takeDeadline, takeReading } from './watching.ts'
import type { RulesDraft, Watches } from './watching.ts'

/** The state of a running turn. What few turns need is made when one does. */
interface Draft extends Omit<Effects, 'rules' | 'scheduled'> {
  head: ChannelHead
  readonly things: Map<string, Thing>
  events: Map<string, Event> | undefined
  ofRules: RulesDraft | undefined
  scheduled: ScheduledDraft | undefined
}

/** Decides a turn on what the channel knows and what was loaded; fills the effects. */
export function decideTurn(context: ChannelContext, { turn, effects }: Take): Decided {
  const { head, rules } = context
  if (head === undefined) throw new Error('a channel without a head takes no turn')
  const loaded = {
    things: byId(turn.things),
    events: byId(turn.events),
    watches: watchesById(turn.watches),
  }
  const { entries, operations, defects } = effects
  const draft: Draft = {
    head,
    things: new Map(),
    events: undefined,
    ofRules: undefined,
    scheduled: undefined,
    entries,
    operations,
    defects,
  }
  const sources = { turn, draft, loaded, context, effects }
  if (turn.due !== undefined) takeDue(turn.due, sources)
  for (const submission of turn.submissions) {
    try {
      keep(draft, decideWhole(submission, sources))
    } catch (error) {
      // W6: a defect in one submission stops that one alone; the others go on.
      draft.defects.push({ submission, error: String(error) })
      draft.operations.push(operationOf(submission, 'internal_error'))
    }
  }
  const { events = NONE, ofRules, scheduled } = draft
  if (ofRules !== undefined) writeRules(ofRules, effects)
  for (const [opId, kept] of scheduled?.writes ?? []) effects.scheduled.push({ opId, kept })
  const decided = { things: draft.things, events, watches: ofRules?.watches ?? NONE }
  return { head: draft.head, ...decided, rules: ofRules?.rules ?? rules, ...sizesOf(decided) }
}

function sizesOf({
  things,
  events,
  watches,
}: Pick<Decided, keyof Memory>): Pick<Decided, 'sizes' | 'bytes'> {
  const sizes = {
    things: eachOf(things, entityBytes),
    events: eachOf(events, entityBytes),
    watches: eachOf(watches, watchesBytes),
  }
  return { sizes, bytes: sumOf(sizes.things) + sumOf(sizes.events) + sumOf(sizes.watches) }
}

const NO_SIZES: readonly number[] = []

const eachOf = <Item>(
  items: ReadonlyMap<string, Item>,
  sizeOf: (item: Item) => number,
): readonly number[] => (items.size === 0 ? NO_SIZES : Array.from(items.values(), sizeOf))

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)

/** Most turns read nothing from the store: the channel remembers their entities. */
const NONE: ReadonlyMap<string, never> = new Map<string, never>()

const NONE_WAITING = { waiting: 0, found: [] }

const byId = <Item extends Thing | Event>(items: readonly Item[]): ReadonlyMap<string, Item> =>
  items.length === 0 ? NONE : new Map(items.map((item) => [item.id, item]))

function watchesById(loaded: Take['turn']['watches'] = []): ReadonlyMap<string, Watches> {
  if (loaded.length === 0) return NONE
  const groups = Map.groupBy(loaded, ({ thingId }) => thingId)
  return new Map(
    [...groups].map(([id, list]) => [id, new Map(list.map((one) => [one.ruleId, one.watch]))]),
  )
}

interface Sources extends Pick<Take, 'turn'> {
  readonly draft: Draft
  readonly loaded: Pick<Decided, keyof Memory>
  readonly context: ChannelContext
  readonly effects: Effects
}

const ofRulesIn = (sources: Sources): RulesDraft => (sources.draft.ofRules ??= rulesDraft(sources))

const scheduledIn = ({ draft, turn }: Sources): ScheduledDraft =>
  (draft.scheduled ??= scheduledDraft(turn.scheduled ?? NONE_WAITING))

function rulesDraft({ context: { memory, rules }, loaded }: Sources): RulesDraft {
  return {
    rules,
    ruleWrites: new Map(),
    watchWrites: new Map(),
    watches: new Map(),
    made: new Set(),
    failures: new Map(),
    remembered: (id) => memory.watches.get(id),
    loaded: (id) => loaded.watches.get(id) ?? NO_WATCHES,
  }
}

/** channel/2: what the channel remembers is newer than what was loaded beside it. */
const thingOf = ({ draft, loaded, context }: Sources, id: string): Thing | undefined =>
  draft.things.get(id) ?? context.memory.things.get(id) ?? loaded.things.get(id)

const eventOf = ({ draft, loaded, context }: Sources, id: string): Event | undefined =>
  draft.events?.get(id) ?? context.memory.events.get(id) ?? loaded.events.get(id)

/** Decides a submission, and what follows from it by the rules. (W2) */
function decideWhole(submission: Submission, sources: Sources): Decision {
  if (submission.model === 'rule') return decideRule(submission, sources)
  if (submission.model !== 'thing') return decideOne(submission, sources)
  const prior = thingOf(sources, submission.entityId)
  const decision = decideOne(submission, sources)
  const [change] = decision.changes
  const { rules } = sources.draft.ofRules ?? sources.context
  if (change?.thing === undefined || rules.size === 0) return decision // watching/1
  const headSeq = change.entry?.seq ?? sources.draft.head.headSeq
  const out = consequencesOf(sources, headSeq, submission)
  takeReading(ofRulesIn(sources), { submission, prior, thing: change.thing }, out)
  return out.changes.length === 0
    ? decision
    : { ...decision, changes: [...decision.changes, ...out.changes] }
}

function decideOne(submission: Exclude<Submission, RuleSubmission>, sources: Sources): Decision {
  const { headSeq } = sources.draft.head
  const rules = { headSeq, endedLifeMs: sources.context.endedLifeMs }
  switch (submission.model) {
    case 'message':
      return submission.schedule === undefined
        ? decideMessage(submission, headSeq)
        : schedule(scheduledIn(sources), submission, submission.schedule)
    case 'cancellation':
      return cancel(scheduledIn(sources), submission)
    case 'thing':
      return decideThing(submission, thingOf(sources, submission.entityId), rules)
    case 'event':
      return decideEvent(submission, eventOf(sources, submission.entityId), rules)
  }
}

function decideRule(submission: RuleSubmission, sources: Sources): Decision {
  const refused = takeRule(ofRulesIn(sources), submission)
  if (refused !== undefined) return refusal(submission, refused)
  return { operation: operationOf(submission), changes: [] }
}

function consequencesOf(
  sources: Sources,
  headSeq: number,
  { acceptedAt }: Pick<ThingSubmission, 'acceptedAt'>,
): Consequences {
  const { endedLifeMs, derive, head } = sources.context
  const channelId = head?.channelId ?? sources.draft.head.channelId
  const { firings } = sources.effects.rules
  const eventKnown = (id: string): Event | undefined => eventOf(sources, id)
  const ports = { channelId, acceptedAt, endedLifeMs, derive, eventOf: eventKnown }
  return new Consequences(ports, headSeq, firings)
}

/** R7 */
function takeDue({ items, messages = [], upTo }: Due, sources: Sources): void {
  const { draft } = sources
  for (const message of messages) {
    const { channelId, headSeq } = draft.head
    keep(draft, { changes: deliver(scheduledIn(sources), message, { channelId, headSeq, upTo }) })
  }
  for (const item of items) {
    if ('thingId' in item) takeOne(item)
    else {
      const { ruleId, thingIds, next } = item
      for (const thingId of thingIds) takeOne({ ruleId, thingId })
      ofRulesIn(sources).watchWrites.set(`${ruleId} `, { ruleId, thingId: '', kept: next })
    }
  }

  function takeOne(item: DueItem): void {
    const out = consequencesOf(sources, draft.head.headSeq, { acceptedAt: upTo })
    takeDeadline(ofRulesIn(sources), { item, thing: thingOf(sources, item.thingId), upTo }, out)
    keep(draft, { changes: out.changes })
  }
}

function keep(
  draft: Draft,
  { operation, changes }: Pick<Decision, 'changes'> & Partial<Decision>,
): void {
  checkSeqs(draft.head, changes)
  if (operation !== undefined) draft.operations.push(operation)
  for (const change of changes) apply(draft, change)
}

/** W9: throws when the entries do not follow one another. */
export function checkSeqs(
  { headSeq }: Pick<ChannelHead, 'headSeq'>,
  changes: readonly Change[],
): void {
  let last = headSeq
  for (const { entry } of changes) {
    if (entry === undefined) continue
    last += 1
    if (entry.seq !== last) throw new Error(`an entry has seq ${entry.seq} in place of ${last}`)
  }
}

function apply(draft: Draft, change: Change): void {
  const { thing, event, entry, liveThings, openEvents, operation } = change
  if (operation !== undefined) record(draft.operations, operation)
  if (thing !== undefined) draft.things.set(thing.id, thing)
  if (event !== undefined) (draft.events ??= new Map<string, Event>()).set(event.id, event)
  if (entry !== undefined) draft.entries.push(entry)
  if (entry === undefined && liveThings === 0 && openEvents === 0) return
  draft.head = {
    ...draft.head,
    headSeq: entry?.seq ?? draft.head.headSeq,
    things: draft.head.things + liveThings,
    openEvents: draft.head.openEvents + openEvents,
  }
}

/** The record of an operation in place of an earlier one of this turn: a Message was cancelled. */
function record(operations: Operation[], operation: Operation): void {
  const isEnded = operation.status === 'cancelled'
  const before = isEnded ? operations.findIndex(({ opId }) => opId === operation.opId) : -1
  if (before < 0) operations.push(operation)
  else operations[before] = operation
}

function writeRules({ ruleWrites, watchWrites, failures }: RulesDraft, { rules }: Effects): void {
  for (const [ruleId, stored] of ruleWrites) rules.rules.push({ ruleId, stored })
  for (const written of watchWrites.values()) rules.watches.push(written)
  for (const [ruleId, failed] of failures) rules.failures.push({ ruleId, ...failed })
}
