// The rules of a channel within a turn: what a reading and a deadline change.
//
// Invariants:
//   R5. A watch belongs to a version of its rule: that of another version, or of no rule, closes
//       its Event when it is met. A sweep meets those that no reading meets.
//   R6. A rule that fails on a value, or by a defect, changes nothing but its own count.
//   watching/1. A Thing that no rule watches costs a look-up.
//   watching/2. A channel forgets the watches first that it has read or changed longest ago: those
//     that a reading leaves as they are cost no note.
//   watching/3. What one submission ends of several rules ends in the order of their ids, whether
//     an owner has made the watches or read them.
//   watching/4. A turn copies the watches of a Thing once, however many rules change theirs.
//   watching/5. All rules together have one budget for a reading, and each deadline has its own.
//     A reading prepares once whatever all of its rules share. (work/1)

import type { Thing } from '#domain/entity'
import type { RuleId } from '#domain/identity'
import type { DueItem, RuleFailures, StoredRule, Watch, WatchWrite } from '#domain/rules/stored'
import type { ThingSubmission } from '#domain/submission'
import type { Facts } from '#src/rules/conditions'
import { changedOf, isMovedBy } from '#src/rules/rule'
import { RuleSet, isWithin } from '#src/rules/rule-set'
import type { ActiveRule } from '#src/rules/rule-set'
import { onReading, onTime, staysQuiet } from '#src/rules/watch'
import type { Step } from '#src/rules/watch'
import { DEADLINE_STEPS_MAX, READING_STEPS_MAX, Work } from '#src/rules/work'
import type { Consequences } from './consequences.ts'

/** The watches of one Thing by rule. */
export type Watches = ReadonlyMap<RuleId, Watch>

export const NO_WATCHES: Watches = new Map()

/** The rules of a channel as a turn reads and changes them. */
export interface RulesDraft {
  rules: RuleSet
  readonly ruleWrites: Map<RuleId, StoredRule | undefined>
  /** By rule and Thing. */
  readonly watchWrites: Map<string, WatchWrite>
  /** The watches that the turn read or changed, as they are now. (watching/2) */
  readonly watches: Map<string, Watches>
  /** Those among them that the turn made, by Thing. (watching/4) */
  readonly made: Map<string, Map<RuleId, Watch>>
  readonly failures: Map<RuleId, RuleFailures>
  /** The watches of a Thing before the turn, as far as the channel remembers them. */
  readonly remembered: (thingId: string) => Watches | undefined
  /** Those that were read for the turn. */
  readonly loaded: (thingId: string) => Watches
}

export const NO_RULES = RuleSet.of([])

// The reasons with which an Event of a rule is closed otherwise than by it. (R5)
const CHANGED = 'rule changed'

function endOf({ rules }: RulesDraft, ruleId: RuleId): string {
  if (rules.active(ruleId) !== undefined) return 'no longer watched'
  return rules.get(ruleId) !== undefined ? 'rule disabled' : 'rule deleted'
}

/** A Thing as conditions see it, at a time of the lane, with a budget. */
export function factsOf(thing: Thing, nowMs: number, work: Work): Facts {
  const { id, fields, attrs, heardAt, changedAt } = thing
  const { title } = fields.values
  const named = typeof title === 'string' && title !== '' ? title : id
  return { id, title: named, attrs: attrs.values, heardAt: heardAt ?? changedAt, nowMs, work }
}

interface Read {
  readonly submission: ThingSubmission
  readonly prior: Thing | undefined
  readonly thing: Thing
}

/** Applies the rules of a Thing to a submission that changed it. */
export function takeReading(draft: RulesDraft, read: Read, out: Consequences): void {
  const { submission, thing } = read
  const { id } = thing
  const kept = watchesIn(draft, id)
  if (thing.state !== 'active') return endAll(draft, read, out)
  const work = new Work(READING_STEPS_MAX) // watching/5
  const after = factsOf(thing, submission.acceptedAt, work)
  const isEvidence = evidenceOf(read)
  for (const active of draft.rules.watching(id, thing.fields.values)) {
    attempt(draft, active, () => {
      if (staysQuiet(active, kept.get(active.ruleId), after)) return
      look(draft, { active, read, after, isEvidence: isEvidence(active) }, out)
    })
  }
  if (kept.size > 0) leaveOthers(draft, read, out)
}

interface Looked {
  readonly active: ActiveRule
  readonly read: Read
  readonly after: Facts
  readonly isEvidence: boolean
}

function look(
  draft: RulesDraft,
  { active, read, after, isEvidence }: Looked,
  out: Consequences,
): void {
  const { submission, prior, thing } = read
  const { acceptedAt, patch } = submission
  const watch = currentOf(draft, { active, thingId: thing.id, at: patch.at }, out)
  const before = prior === undefined ? undefined : factsOf(prior, acceptedAt, after.work)
  const next = onReading(active, watch, { at: patch.at, before, after, isEvidence })
  settle(draft, { active, facts: after, step: next, watch }, out)
}

/** R2: late data counts for a rule when it changed a present value that the rule reads. */
function evidenceOf({ submission, prior, thing }: Read): (active: ActiveRule) => boolean {
  const { at, attrs = {} } = submission.patch
  if (prior === undefined || at >= prior.at) return () => true
  let changed: ReadonlySet<string> | undefined // watching/5
  return ({ rule }) => {
    changed ??= changedOf(attrs, prior.attrs.values, thing.attrs.values)
    return isMovedBy(rule, changed)
  }
}

/** R5: an archived or deleted Thing closes the Events of its rules. */
function endAll(draft: RulesDraft, { submission, thing }: Read, out: Consequences): void {
  for (const [ruleId, watch] of inOrder(watchesIn(draft, thing.id))) {
    out.close(watch, submission.patch.at, `thing ${thing.state}`)
    write(draft, ruleId, thing.id, undefined)
  }
}

/** watching/3 */
const inOrder = (watches: Watches): readonly (readonly [RuleId, Watch])[] =>
  [...watches].sort(([one], [other]) => (one < other ? -1 : 1))

/** Ends the watches of rules that watch the Thing no more: it lost a tag, for instance. */
function leaveOthers(draft: RulesDraft, { submission, thing }: Read, out: Consequences): void {
  const { id, fields } = thing
  for (const [ruleId, watch] of inOrder(watchesIn(draft, id))) {
    const active = draft.rules.active(ruleId)
    if (active !== undefined && isWithin(active.rule.scope, id, fields.values)) continue
    out.close(watch, submission.patch.at, endOf(draft, ruleId))
    write(draft, ruleId, id, undefined)
  }
}

/** The watch of the present version; one of another version ends. (R5) */
function currentOf(
  draft: RulesDraft,
  { active, thingId, at }: { active: ActiveRule; thingId: string; at: number },
  out: Consequences,
): Watch | undefined {
  const watch = watchesIn(draft, thingId).get(active.ruleId)
  if (watch === undefined || watch.version === active.version) return watch
  out.close(watch, at, CHANGED)
  write(draft, active.ruleId, thingId, undefined)
  return undefined
}

interface Settled {
  readonly active: ActiveRule
  readonly facts: Facts
  readonly step: Step
  readonly watch: Watch | undefined
}

function settle(
  draft: RulesDraft,
  { active, facts, step, watch }: Settled,
  out: Consequences,
): void {
  const { failure } = step
  if (failure !== undefined) noteFailure(draft, active.ruleId, failure)
  const next = out.take(active, facts, step, watch)
  if (next !== watch) write(draft, active.ruleId, facts.id, next)
}

/** One deadline of a rule and a Thing. (R3, R4) */
export function takeDeadline(
  draft: RulesDraft,
  {
    item: { ruleId, thingId },
    thing,
    upTo,
  }: { readonly item: DueItem; readonly thing: Thing | undefined; readonly upTo: number },
  out: Consequences,
): void {
  const active = draft.rules.active(ruleId)
  const kept = watchesIn(draft, thingId).get(ruleId)
  if (active === undefined) {
    if (kept !== undefined) end(draft, { ruleId, thingId, watch: kept, at: upTo }, out)
    return
  }
  attempt(draft, active, () => {
    const watch = currentOf(draft, { active, thingId, at: upTo }, out)
    if (!isWatched(active, thingId, thing)) {
      if (watch !== undefined) write(draft, ruleId, thingId, undefined)
      return
    }
    if (watch === undefined && active.rule.silences.quiet.length === 0) return
    const work = new Work(DEADLINE_STEPS_MAX) // watching/5
    const facts =
      thing === undefined ? unheard(active, thingId, upTo, work) : factsOf(thing, upTo, work)
    settle(draft, { active, facts, step: onTime(active, watch, facts), watch }, out)
  })
}

function end(
  draft: RulesDraft,
  { ruleId, thingId, watch, at }: DueItem & { readonly watch: Watch; readonly at: number },
  out: Consequences,
): void {
  out.close(watch, at, endOf(draft, ruleId))
  write(draft, ruleId, thingId, undefined)
}

/** A Thing that is not there is watched when its rule names it. (R4) */
function isWatched({ rule }: ActiveRule, id: string, thing: Thing | undefined): boolean {
  if (thing === undefined) return rule.scope.kind === 'ids'
  return thing.state === 'active' && isWithin(rule.scope, id, thing.fields.values)
}

const unheard = ({ since }: ActiveRule, id: string, nowMs: number, work: Work): Facts => ({
  id,
  title: id,
  attrs: {},
  heardAt: since,
  nowMs,
  work,
})

/** The watches of a Thing as the turn has them. (watching/2) */
export function watchesIn(draft: RulesDraft, thingId: string): Watches {
  const known = draft.watches.get(thingId) ?? draft.remembered(thingId)
  if (known !== undefined) return known
  const loaded = draft.loaded(thingId)
  draft.watches.set(thingId, loaded)
  return loaded
}

/** Notes a watch that the turn changed, or ended. */
export function write(
  draft: RulesDraft,
  ruleId: RuleId,
  thingId: string,
  watch: Watch | undefined,
): void {
  let watches = draft.made.get(thingId)
  if (watches === undefined) {
    watches = new Map(watchesIn(draft, thingId)) // watching/4
    draft.made.set(thingId, watches)
    draft.watches.set(thingId, watches)
  }
  if (watch === undefined) watches.delete(ruleId)
  else watches.set(ruleId, watch)
  draft.watchWrites.set(`${ruleId} ${thingId}`, { ruleId, thingId, kept: watch })
}

/** R6 */
function attempt(draft: RulesDraft, { ruleId }: ActiveRule, work: () => void): void {
  try {
    work()
  } catch (error) {
    noteFailure(draft, ruleId, String(error))
  }
}

const REASON_MAX = 256

function noteFailure({ failures }: RulesDraft, ruleId: RuleId, reason: string): void {
  const count = (failures.get(ruleId)?.count ?? 0) + 1
  failures.set(ruleId, { count, last: reason.slice(0, REASON_MAX) })
}
