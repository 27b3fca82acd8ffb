// Puts and deletes rules within a turn.

import type { FaultCode } from '#domain/fault'
import type { RuleId, ThingId } from '#domain/identity'
import type { Sweep, Watch } from '#domain/rules/stored'
import type { RuleSubmission } from '#domain/submission'
import type { KeptRule } from '#src/rules/rule-set'
import { watchesIn, write } from './watching.ts'
import type { RulesDraft } from './watching.ts'

/** Puts or deletes a rule; gives the code of a refusal. */
export function takeRule(draft: RulesDraft, submission: RuleSubmission): FaultCode | undefined {
  const { entityId: ruleId, action, text, opId, acceptedAt, thingIds = [] } = submission
  const { rules } = draft
  const prior = rules.get(ruleId)
  if (action === 'delete' && prior === undefined) return 'rule_not_found'
  const begun = { ruleId, text, version: opId, since: acceptedAt, updatedAt: acceptedAt }
  const createdAt = prior?.stored.createdAt ?? acceptedAt
  const next =
    action === 'delete' ? undefined : continued(prior, rules.compiled({ ...begun, createdAt }))
  if (next !== undefined && !rules.hasRoomFor(next)) return 'rules_limit_exceeded'
  draft.rules = rules.with(ruleId, next)
  draft.ruleWrites.set(ruleId, next?.stored)
  if (next !== undefined && next.stored.version !== opId) return undefined
  const asksForSilence = (next?.active?.rule.silences.quiet.length ?? 0) > 0
  if (asksForSilence) for (const id of thingIds) awaitFirst(draft, { ruleId, id, submission })
  const isOfThings = asksForSilence && thingIds.length === 0
  if (prior === undefined && !isOfThings) return undefined
  const sweep: Sweep = { cursor: '', isOfThings, due: acceptedAt }
  draft.watchWrites.set(`${ruleId} `, { ruleId, thingId: '', kept: sweep })
  return undefined
}

/** R5: a rule with the same Things and the same condition goes on, with its Events. */
function continued(prior: KeptRule | undefined, fresh: KeptRule): KeptRule {
  const [before, after] = [prior?.active, fresh.active]
  if (before === undefined || after === undefined) return fresh
  if (before.rule.identity !== after.rule.identity) return fresh
  const { version, since } = before
  return {
    ...fresh,
    stored: { ...fresh.stored, version, since },
    active: { ...after, version, since },
  }
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
