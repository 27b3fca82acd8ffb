// The rules of a channel within a turn: what a reading, a deadline, and a rule that is put or
// deleted change.
//
// Invariants:
//   R5. A watch belongs to a version of its rule: that of another version, or of no rule, closes
//       its Event when it is met. A sweep meets those that no reading meets.
//   R6. A rule that fails on a value, or by a defect, changes nothing but its own count.
//   watching/1. A Thing that no rule watches costs a look-up.

import type { Thing } from '#domain/entity'
import type { RuleId, ThingId } from '#domain/identity'
import type { FaultCode } from '#domain/fault'
import type {
  DueItem,
  RuleFailures,
  StoredRule,
  Sweep,
  Watch,
  WatchWrite,
} from '#domain/rules/stored'
import type { RuleSubmission, ThingSubmission } from '#domain/submission'
import type { Facts } from '#src/rules/conditions'
import { RULES_PER_CHANNEL_MAX } from '#src/rules/read-rule'
import { RuleSet, isWithin } from '#src/rules/rule-set'
import type { ActiveRule } from '#src/rules/rule-set'
import { onReading, onTime } from '#src/rules/watch'
import type { Reading, Step } from '#src/rules/watch'
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
  /** The watches of the Things that the turn touched, as they are now. */
  readonly watches: Map<string, Watches>
  readonly failures: Map<RuleId, RuleFailures>
  /** The watches of a Thing before the turn. */
  readonly watchesOf: (thingId: string) => Watches
}

export const NO_RULES = RuleSet.of([])

// The reasons with which an Event of a rule is closed otherwise than by it. (R5)
const CHANGED = 'rule changed'

function endOf({ rules }: RulesDraft, ruleId: RuleId): string {
  if (rules.active(ruleId) !== undefined) return 'no longer watched'
  return rules.stored.has(ruleId) ? 'rule disabled' : 'rule deleted'
}

/** A Thing as conditions see it, at a time of the lane. */
export function factsOf(thing: Thing, nowMs: number): Facts {
  const { id, fields, attrs, heardAt, changedAt } = thing
  const { title } = fields.values
  const named = typeof title === 'string' && title !== '' ? title : id
  return { id, title: named, attrs: attrs.values, heardAt: heardAt ?? changedAt, nowMs }
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
  draft.watches.set(id, kept)
  if (thing.state !== 'active') return endAll(draft, read, out)
  const watching = draft.rules.watching(id, thing.fields.values)
  if (watching.length > 0) {
    const reading = readingOf(read)
    for (const active of watching) attempt(draft, active, () => step(active, reading))
  }
  if (kept.size > 0) leaveOthers(draft, { thing, watching, at: submission.patch.at }, out)

  function step(active: ActiveRule, reading: Omit<Reading, 'isEvidence'>): void {
    const watch = currentOf(draft, { active, thingId: id, at: reading.at }, out)
    const isEvidence = isEvidenceFor(active, read)
    const next = onReading(active, watch, { ...reading, isEvidence })
    settle(draft, { active, facts: reading.after, step: next, watch }, out)
  }
}

function readingOf({ submission, prior, thing }: Read): Omit<Reading, 'isEvidence'> {
  const { acceptedAt, patch } = submission
  const before = prior === undefined ? undefined : factsOf(prior, acceptedAt)
  return { at: patch.at, before, after: factsOf(thing, acceptedAt) }
}

/** R2: late data counts for a rule when it changed a present value that the rule reads. */
function isEvidenceFor({ reads }: ActiveRule, { submission, prior, thing }: Read): boolean {
  const { at, attrs = {} } = submission.patch
  if (prior === undefined || at >= prior.at) return true
  return Object.keys(attrs).some(
    (name) =>
      (reads === 'any' || reads.has(name)) &&
      JSON.stringify(prior.attrs.values[name] ?? null) !==
        JSON.stringify(thing.attrs.values[name] ?? null),
  )
}

/** R5: an archived or deleted Thing closes the Events of its rules. */
function endAll(draft: RulesDraft, { submission, thing }: Read, out: Consequences): void {
  for (const [ruleId, watch] of watchesIn(draft, thing.id)) {
    out.close(watch, submission.patch.at, `thing ${thing.state}`)
    write(draft, ruleId, thing.id, undefined)
  }
}

/** Ends the watches of rules that watch the Thing no more: it lost a tag, for instance. */
function leaveOthers(
  draft: RulesDraft,
  { thing, watching, at }: { thing: Thing; watching: readonly ActiveRule[]; at: number },
  out: Consequences,
): void {
  for (const [ruleId, watch] of watchesIn(draft, thing.id)) {
    if (watching.some((active) => active.ruleId === ruleId)) continue
    out.close(watch, at, endOf(draft, ruleId))
    write(draft, ruleId, thing.id, undefined)
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
  draft.watches.set(thingId, watchesIn(draft, thingId))
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
    if (watch === undefined && active.silences.quiet.length === 0) return
    const facts = thing === undefined ? unheard(active, thingId, upTo) : factsOf(thing, upTo)
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

const unheard = ({ since }: ActiveRule, id: string, nowMs: number): Facts => ({
  id,
  title: id,
  attrs: {},
  heardAt: since,
  nowMs,
})

/** Puts or deletes a rule; gives the code of a refusal. */
export function takeRule(draft: RulesDraft, submission: RuleSubmission): FaultCode | undefined {
  const { entityId: ruleId, action, text, opId, acceptedAt, thingIds = [] } = submission
  const { rules } = draft
  const prior = rules.stored.get(ruleId)
  if (action === 'delete' && prior === undefined) return 'rule_not_found'
  if (prior === undefined && rules.size >= RULES_PER_CHANNEL_MAX) return 'rules_limit_exceeded'
  const begun = { ruleId, text, version: opId, since: acceptedAt, updatedAt: acceptedAt }
  const fresh = { ...begun, createdAt: prior?.createdAt ?? acceptedAt }
  const next = action === 'delete' ? undefined : continued(draft, prior, fresh)
  draft.rules = rules.with(ruleId, next)
  draft.ruleWrites.set(ruleId, next)
  if (next !== undefined && next.version !== opId) return undefined
  const asksForSilence = (draft.rules.active(ruleId)?.silences.quiet.length ?? 0) > 0
  if (asksForSilence) for (const id of thingIds) awaitFirst(draft, { ruleId, id, submission })
  const isOfThings = asksForSilence && thingIds.length === 0
  if (prior === undefined && !isOfThings) return undefined
  const sweep: Sweep = { cursor: '', isOfThings, due: acceptedAt }
  draft.watchWrites.set(`${ruleId} `, { ruleId, thingId: '', kept: sweep })
  return undefined
}

/** R5: a rule with the same Things and the same condition goes on, with its Events. */
function continued(
  { rules }: RulesDraft,
  prior: StoredRule | undefined,
  fresh: StoredRule,
): StoredRule {
  const before = prior && rules.active(prior.ruleId)
  if (prior === undefined || before === undefined) return fresh
  const after = RuleSet.of([fresh]).active(fresh.ruleId)
  if (after?.rule.identity !== before.rule.identity) return fresh
  return { ...fresh, version: prior.version, since: prior.since }
}

/** R4: a Thing that a rule names counts from the time of the rule, until it is heard. */
function awaitFirst(
  draft: RulesDraft,
  { ruleId, id, submission }: { ruleId: RuleId; id: ThingId; submission: RuleSubmission },
): void {
  const { opId, acceptedAt } = submission
  if (watchesIn(draft, id).has(ruleId)) return // The sweep meets it.
  const watch: Watch = { version: opId, phase: 'quiet', since: acceptedAt, due: acceptedAt }
  write(draft, ruleId, id, watch)
}

const watchesIn = (draft: RulesDraft, thingId: string): Watches =>
  draft.watches.get(thingId) ?? draft.watchesOf(thingId)

function write(draft: RulesDraft, ruleId: RuleId, thingId: string, watch: Watch | undefined): void {
  const watches = new Map(watchesIn(draft, thingId))
  if (watch === undefined) watches.delete(ruleId)
  else watches.set(ruleId, watch)
  draft.watches.set(thingId, watches)
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
