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
import { readListing } from '#src/schemas/reading-requests'
import type { Listing } from '#src/schemas/reading-requests'
import { RULE_ROUTES } from './rule-schemas.ts'
import { shape } from '#src/schemas/shape'
import type { Making, ReadSubmission } from '#src/schemas/submission'
import { ENTITY_ID_RULE, invalid, readCredentials, readParsed, readTime } from '#src/schemas/values'
import type { Credentials, SentText } from '#src/schemas/values'

const putShape = shape(RULE_ROUTES['/rule/put'].request)
const deleteShape = shape(RULE_ROUTES['/rule/delete'].request)
const getShape = shape(RULE_ROUTES['/rule/get'].request)
const listShape = shape(RULE_ROUTES['/rule/list'].request)
const testShape = shape(RULE_ROUTES['/rule/test'].request)

/** POST /rule/put and /rule/delete */
export function readRuleSubmission(
  action: RuleAction,
  sent: unknown,
  making: Making,
): Answer<ReadSubmission<RuleSubmission>> {
  return action === 'put' ? readPut(sent, making) : readDelete(sent, making)
}

function readPut(sent: unknown, making: Making): Answer<ReadSubmission<RuleSubmission>> {
  const body = putShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const ruleId = readRuleId(body.rule_id)
  if (isFault(ruleId)) return ruleId
  const rule = compiled(body.rule)
  if (isFault(rule)) return rule
  const { scope } = rule
  const thingIds = scope.kind === 'ids' ? { thingIds: [...scope.ids] as ThingId[] } : {}
  const text = JSON.stringify(body.rule)
  const made = { ...submissionOf('put', credentials, making), entityId: ruleId, text, ...thingIds }
  return { submission: made, password: credentials.password }
}

function readDelete(sent: unknown, making: Making): Answer<ReadSubmission<RuleSubmission>> {
  const body = deleteShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const ruleId = readRuleId(body.rule_id)
  if (isFault(ruleId)) return ruleId
  const made = { ...submissionOf('delete', credentials, making), entityId: ruleId, text: '' }
  return { submission: made, password: credentials.password }
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
export function readRuleGet(sent: unknown): Answer<Credentials & { readonly ruleId: RuleId }> {
  const body = getShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const ruleId = readRuleId(body.rule_id)
  return isFault(ruleId) ? ruleId : { ...credentials, ruleId }
}

export type RuleListing = Listing

/** POST /rule/list */
export function readRuleList(sent: unknown): Answer<RuleListing> {
  const body = listShape(sent)
  return isFault(body) ? body : readListing(body)
}

export type RuleTrial = Credentials & {
  readonly rule: Rule
  readonly from: number | undefined
  readonly to: number | undefined
}

/** POST /rule/test */
export function readRuleTest(sent: unknown): Answer<RuleTrial> {
  const body = testShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const rule = compiled(body.rule)
  if (isFault(rule)) return rule
  const from = readTime('from', body.from)
  if (isFault(from)) return from
  const to = readTime('to', body.to)
  return isFault(to) ? to : { ...credentials, rule, from, to }
}

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
