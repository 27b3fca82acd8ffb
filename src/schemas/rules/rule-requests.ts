// Requests about rules, and their answers. The fault of a rule names the path of the member in it.

import { fault, isFault } from '#domain/fault'
import { operationIdFrom, parseRuleId } from '#domain/identity'
import type { RuleId, ThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { ListedRule } from '#domain/rules/stored'
import type { RuleAction, RuleSubmission } from '#domain/submission'
import { readRule } from '#src/rules/read-rule'
import type { Rule } from '#src/rules/rule'
import type { Firing } from '#src/rules/trial'
import type { Wire } from '#src/schemas/answers'
import { LISTING_READ } from '#src/schemas/reading-requests'
import { CREDENTIALS_READ, request } from '#src/schemas/shape'
import type { RequestOf } from '#src/schemas/shape'
import { RULE_ROUTES } from './rule-schemas.ts'
import type { Making, ReadSubmission } from '#src/schemas/submission'
import { ENTITY_ID_RULE, invalid, readParsed, readTime } from '#src/schemas/values'
import type { Credentials, SentText } from '#src/schemas/values'

const RULE_ID_READ = {
  ...CREDENTIALS_READ,
  ruleId: (body: { readonly rule_id?: SentText }) => readRuleId(body.rule_id),
}

const readPutRequest = request(RULE_ROUTES['/rule/put'].request, {
  ...RULE_ID_READ,
  rule: (body) => compiled(body.rule),
  text: (body) => JSON.stringify(body.rule),
})
const readDeleteRequest = request(RULE_ROUTES['/rule/delete'].request, RULE_ID_READ)

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

function readRuleId(sent: SentText): Answer<RuleId> {
  const id = readParsed('rule_id', sent, { parse: parseRuleId, rule: ENTITY_ID_RULE })
  return id ?? invalid('rule_id', ENTITY_ID_RULE)
}

function compiled(sent: unknown): Answer<Rule> {
  const read = readRule(sent)
  if (read.kind === 'rule') return read.rule
  const { path, rule } = read
  return fault('validation_failed', { field: path, detail: `${path}: ${rule}` })
}

/** POST /rule/get */
export const readRuleGet = request(RULE_ROUTES['/rule/get'].request, RULE_ID_READ)

/** POST /rule/list */
export const readRuleList = request(RULE_ROUTES['/rule/list'].request, LISTING_READ)

export type RuleTrial = RequestOf<typeof readRuleTest>

/** POST /rule/test */
export const readRuleTest = request(RULE_ROUTES['/rule/test'].request, {
  ...CREDENTIALS_READ,
  rule: (body) => compiled(body.rule),
  from: (body) => readTime('from', body.from),
  to: (body) => readTime('to', body.to),
})

export const ruleToWire = ({ failures: { count, last }, ...rule }: ListedRule): Wire => ({
  rule_id: rule.ruleId,
  rule: JSON.parse(rule.text) as unknown,
  since: rule.since,
  created_at: rule.createdAt,
  updated_at: rule.updatedAt,
  failures: count,
  ...(last !== undefined && { last_failure: last }),
})

export interface Tried {
  readonly firings: readonly Firing[]
  readonly entries: number
  readonly isComplete: boolean
}

export const triedToWire = ({ firings, entries, isComplete }: Tried): Wire => ({
  firings: firings.map(({ thingId, title, severity, since, firedAt, clearedAt }) => ({
    thing_id: thingId,
    title,
    severity,
    since,
    fired_at: firedAt,
    ...(clearedAt !== undefined && { cleared_at: clearedAt }),
  })),
  entries,
  complete: isComplete,
})
