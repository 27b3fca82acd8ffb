// Requests about rules. The fault of a rule names the path of the member in it.

import { fault, isFault } from '#domain/fault'
import { operationIdFrom } from '#domain/identity'
import type { ThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { RuleAction, RuleSubmission } from '#domain/submission'
import { readRule } from '#src/rules/read-rule'
import type { Rule } from '#src/rules/rule'
import type { Firing } from '#src/rules/trial'
import { readersOf, request } from '#src/schemas/shape'
import type { RequestOf } from '#src/schemas/shape'
import { RULE_CHANGE, RULE_READING } from './rule-routes.ts'
import type { Making, ReadSubmission } from '#src/schemas/submission'
import type { Credentials } from '#src/schemas/values'

const readPutRequest = request(RULE_CHANGE.put.request, {
  rule: ({ rule }) => compiled(rule),
  text: ({ rule }) => JSON.stringify(rule),
})
const readDeleteRequest = request(RULE_CHANGE.delete.request)

/** POST /rule/put and /rule/delete */
export function readRuleSubmission(
  action: RuleAction,
  sent: unknown,
  making: Making,
): Answer<ReadSubmission<RuleSubmission>> {
  return action === 'put' ? readPut(sent, making) : readDelete(sent, making)
}

function readPut(sent: unknown, making: Making): Answer<ReadSubmission<RuleSubmission>> {
  const wish = readPutRequest(sent)
  if (isFault(wish)) return wish
  const { rule, ruleId, text } = wish
  const { scope } = rule
  const thingIds = scope.kind === 'ids' ? { thingIds: [...scope.ids] as ThingId[] } : {}
  const made = { ...submissionOf('put', wish, making), entityId: ruleId, text, ...thingIds }
  return { submission: made, password: wish.password }
}

function readDelete(sent: unknown, making: Making): Answer<ReadSubmission<RuleSubmission>> {
  const wish = readDeleteRequest(sent)
  if (isFault(wish)) return wish
  const made = { ...submissionOf('delete', wish, making), entityId: wish.ruleId, text: '' }
  return { submission: made, password: wish.password }
}

const submissionOf = (
  action: RuleAction,
  { channelId }: Credentials,
  { nowMs, newHex32 }: Making,
) => ({
  model: 'rule' as const,
  action,
  opId: operationIdFrom(nowMs, newHex32()),
  channelId,
  acceptedAt: nowMs,
})

function compiled(sent: unknown): Answer<Rule> {
  const read = readRule(sent)
  if (read.kind === 'rule') return read.rule
  const { path, rule } = read
  return fault('validation_failed', { field: path, detail: `${path}: ${rule}` })
}

export const READ_RULE = {
  ...readersOf(RULE_READING),
  test: request(RULE_READING.test.request, {
    rule: ({ rule }) => compiled(rule),
  }),
}

export type RuleTrial = RequestOf<typeof READ_RULE.test>

export interface Tried {
  readonly firings: readonly Firing[]
  readonly entries: number
  readonly isComplete: boolean
}
