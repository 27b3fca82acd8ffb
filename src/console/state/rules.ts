// The rules of a channel: reading, putting, deleting and trying them.

import { signal } from '@preact/signals'

import { HeliographError } from '#src/client/error'
import type { DataOf, RuleRecord } from '#src/client/bodies'
import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import type { ThingView } from '#src/client/view'
import { client } from './gateway.ts'
import { readerOf } from './history.ts'
import type { LiveChannel } from './live-channel.ts'
import type { RuleJson } from './rule-form.ts'
import { applied } from './submissions.ts'

export type Trial = DataOf<'/rule/test'>

const PAGE = 200
/** A channel has no more. */
const RULES_MAX = 1_000

/** Counts the changes that this page made, so that lists are read anew. */
export const rulesChanged = signal(0)

/** The rules of a channel in the order of their ids. */
export async function listRules(
  channelId: string,
  ended: AbortSignal,
): Promise<readonly RuleRecord[]> {
  const found: RuleRecord[] = []
  let cursor: string | undefined
  do {
    const page = { limit: PAGE, ...(cursor !== undefined && { cursor }) }
    const answer = await client
      .peek()
      .rule.list({ ...readerOf(channelId), ...page }, { signal: ended })
    found.push(...answer.items)
    cursor = answer.next_cursor
  } while (cursor !== undefined && found.length < RULES_MAX)
  return found
}

export const readRule = (channelId: string, id: string, ended: AbortSignal): Promise<RuleRecord> =>
  client.peek().rule.get({ ...readerOf(channelId), rule_id: id }, { signal: ended })

/** Puts a rule and waits until the channel has it. Throws what the gateway answers. */
export async function putRule(channelId: string, id: string, rule: RuleJson): Promise<void> {
  const body = { ...readerOf(channelId), rule_id: id, rule }
  await applied((await client.peek().rule.put(body)).op_id)
  rulesChanged.value += 1
}

export async function deleteRule(channelId: string, id: string): Promise<void> {
  const body = { ...readerOf(channelId), rule_id: id }
  await applied((await client.peek().rule.delete(body)).op_id)
  rulesChanged.value += 1
}

/** Resolves with the firings that a rule would have had since a time. */
export const tryRule = (channelId: string, rule: RuleJson, sinceMs: number): Promise<Trial> =>
  client.peek().rule.test({
    ...readerOf(channelId),
    rule,
    from: Math.floor(sinceMs),
  })

/** A fault of a rule: the path of a member, and what the gateway says about it. */
export interface RuleFault {
  readonly path: string
  readonly text: string
}

const FAULT = /^(rule(?:[.[][^:]*)?): (.*)$/s

/** The fault that a refusal is about; undefined for one about something else. */
export function faultOf(error: unknown): RuleFault | undefined {
  const detail = error instanceof HeliographError ? (error.detail ?? '') : ''
  const [, path, text] = FAULT.exec(detail) ?? []
  return path === undefined || text === undefined ? undefined : { path, text }
}

/** True for a rule that watches a Thing, also while it is off. */
export function watches(rule: RuleJson, { id, fields }: Pick<ThingView, 'id' | 'fields'>): boolean {
  const { things } = rule
  if (!isRecord(things)) return things === 'all'
  const { ids, prefix, tag } = things as RuleJson
  if (Array.isArray(ids)) return (ids as readonly Json[]).includes(id)
  if (typeof prefix === 'string') return id.startsWith(prefix)
  const { tags } = fields
  return Array.isArray(tags) && (tags as readonly Json[]).includes(tag ?? '')
}

/** The open Events of a rule. */
export const openEventsOf = (channel: LiveChannel, ruleId: string) =>
  [...channel.events.values()].filter(
    ({ state, attrs }) => state === 'open' && attrs['rule_id'] === ruleId,
  )

/** Returns the rule as it was put, without the fields that the gateway adds. */
export const jsonOfRule = ({ rule }: RuleRecord): RuleJson => rule

const MISSING = /^(.+) is missing$/

/** The value that a rule missed last, and how many of its Things have none; undefined for none. */
export function lackingOf(
  record: RuleRecord,
  things: ReadonlyMap<string, ThingView>,
): { readonly name: string; readonly count: number } | undefined {
  const [, name = ''] = MISSING.exec(record.last_failure ?? '') ?? []
  if (record.failures === 0 || name === '') return undefined
  const rule = jsonOfRule(record)
  let count = 0
  for (const thing of things.values()) {
    if (thing.state === 'active' && watches(rule, thing) && !has(thing.attrs, name)) count += 1
  }
  return count === 0 ? undefined : { name, count }
}

/** True where a value is; its name may lead into objects, by points. */
function has(attrs: RuleJson, name: string): boolean {
  if (attrs[name] !== undefined) return true
  const inner = name.split('.').reduce<unknown>((value, part) => {
    return isRecord(value) ? value[part] : undefined
  }, attrs)
  return inner !== undefined && inner !== null
}
