// Batches of the log: a batch is a JSON array of submissions in the order of acceptance.
//
// Invariants:
//   batch/1. A submission reads back equal to the written one, `__proto__` keys and all.
//   batch/2. Reading never throws: it gives an item that is not a submission as Unreadable. (W6)

import {
  parseChannelId,
  parseEventId,
  parseMessageId,
  parseOperationId,
  parseRuleId,
  parseThingId,
} from '#domain/identity'
import type { Logged, Unreadable } from '#domain/lane'
import { EVENT_SUBMISSION_ACTIONS, RULE_ACTIONS, THING_ACTIONS } from '#domain/submission'
import { isRecord } from '#domain/record'
import type {
  Acknowledging,
  CancellationSubmission,
  EventSubmission,
  Fields,
  Json,
  MessageSubmission,
  Patch,
  RuleSubmission,
  Schedule,
  Submission,
  ThingSubmission,
  Tick,
} from '#domain/submission'

import { bareCopy } from './fields/field-reader.ts'
import { parseJson } from './json/json.ts'

/** One submission as a part of a batch. */
export const encodeSubmission = (submission: Submission | Tick): string =>
  JSON.stringify(submission)

/** The text of a batch, from parts that `encodeSubmission` gave. */
export const encodeBatch = (parts: readonly string[]): string => `[${parts.join(',')}]`

/**
 * The submissions of a batch, with Unreadable in the place of each item that is not one. (batch/2)
 */
export function decodeBatch(payload: string): readonly Logged[] {
  let items: Json
  try {
    items = parseJson(payload)
  } catch {
    return [unreadable(payload, 'the batch is not JSON')]
  }
  if (!Array.isArray(items)) return [unreadable(payload, 'the batch is not a JSON array')]
  return items.map((item: Json) => submissionFrom(item) ?? unreadable(textOf(item), NO_SUBMISSION))
}

const NO_SUBMISSION = 'the item is not a submission'

const unreadable = (payload: string, error: string): Unreadable => ({
  model: 'unreadable',
  payload,
  error,
})

/** An item as text again; empty when it is nested too deeply to be written. (batch/2) */
function textOf(item: Json): string {
  try {
    return JSON.stringify(item)
  } catch {
    return '' // The stack ran out (RangeError): reading is not recursive, but writing is.
  }
}

type JsonRecord = { readonly [key: string]: Json }

const isTime = (value: Json | undefined): value is number => Number.isSafeInteger(value)

function submissionFrom(item: Json): Submission | Tick | undefined {
  if (!isRecord(item)) return undefined
  if (item['model'] === 'thing') return thingFrom(item)
  if (item['model'] === 'event') return eventFrom(item)
  if (item['model'] === 'tick') return tickFrom(item)
  if (item['model'] === 'rule') return ruleFrom(item)
  if (item['model'] === 'cancellation') return cancellationFrom(item)
  return item['model'] === 'message' ? messageFrom(item) : undefined
}

const tickFrom = ({ acceptedAt }: JsonRecord): Tick | undefined =>
  isTime(acceptedAt) ? { model: 'tick', acceptedAt } : undefined

/** The members that every submission has. */
function acceptedFrom({ opId, channelId, acceptedAt, mayRepeat }: JsonRecord) {
  if (typeof opId !== 'string' || typeof channelId !== 'string') return undefined
  const operation = parseOperationId(opId)
  const channel = parseChannelId(channelId)
  if (operation === undefined || channel === undefined || !isTime(acceptedAt)) return undefined
  const accepted = { opId: operation, channelId: channel, acceptedAt }
  return mayRepeat === true ? { ...accepted, mayRepeat } : accepted
}

function messageFrom(item: JsonRecord): MessageSubmission | undefined {
  const accepted = acceptedFrom(item)
  const entityId =
    typeof item['entityId'] === 'string' ? parseMessageId(item['entityId']) : undefined
  const { claimed, isRepeat, uncappedTtl } = item
  const schedule = scheduleFrom(item['schedule'])
  if (accepted === undefined || entityId === undefined) return undefined
  if (typeof claimed !== 'boolean' || !isRecord(item['fields'])) return undefined
  if (item['schedule'] !== undefined && schedule === undefined) return undefined
  return {
    model: 'message',
    action: 'send',
    ...accepted,
    entityId,
    claimed,
    fields: fieldsFrom(item['fields']),
    ...(isTime(uncappedTtl) && { uncappedTtl }),
    ...(schedule && { schedule }),
    ...(isRepeat === true && { isRepeat }),
  }
}

function scheduleFrom(sent: Json | undefined): Schedule | undefined {
  if (!isRecord(sent) || !isTime(sent['deliverAt'])) return undefined
  const { deliverAt, delay } = sent
  return { deliverAt, ...(typeof delay === 'string' && { delay }) }
}

function cancellationFrom(item: JsonRecord): CancellationSubmission | undefined {
  const accepted = acceptedFrom(item)
  const { entityId, cancels } = item
  if (typeof entityId !== 'string' || typeof cancels !== 'string') return undefined
  const messageId = parseMessageId(entityId)
  const message = parseOperationId(cancels)
  if (accepted === undefined || messageId === undefined || message === undefined) return undefined
  const ids = { entityId: messageId, cancels: message }
  return { model: 'cancellation', action: 'cancel', ...accepted, ...ids }
}

function eventFrom(item: JsonRecord): EventSubmission | undefined {
  const accepted = acceptedFrom(item)
  const entityId = typeof item['entityId'] === 'string' ? parseEventId(item['entityId']) : undefined
  const action = EVENT_SUBMISSION_ACTIONS.find((known) => known === item['action'])
  const patch = patchFrom(item['patch'])
  if (accepted === undefined || entityId === undefined) return undefined
  if (action === undefined || patch === undefined) return undefined
  const { within } = item
  const limit = typeof within === 'string' ? { within } : {}
  const acknowledging = action === 'acknowledge' && acknowledgingFrom(item['acknowledging'])
  return {
    model: 'event',
    action,
    ...accepted,
    entityId,
    patch,
    ...limit,
    ...(acknowledging && { acknowledging }),
  }
}

function acknowledgingFrom(sent: Json | undefined): Acknowledging | undefined {
  if (!isRecord(sent)) return undefined
  const { by, note, snoozeMs } = sent
  return {
    ...(typeof by === 'string' && { by }),
    ...(typeof note === 'string' && { note }),
    ...(isTime(snoozeMs) && { snoozeMs }),
  }
}

function thingFrom(item: JsonRecord): ThingSubmission | undefined {
  const accepted = acceptedFrom(item)
  const entityId = typeof item['entityId'] === 'string' ? parseThingId(item['entityId']) : undefined
  const action = THING_ACTIONS.find((known) => known === item['action'])
  const patch = patchFrom(item['patch'])
  if (accepted === undefined || entityId === undefined) return undefined
  if (action === undefined || patch === undefined) return undefined
  const { opId, channelId, acceptedAt } = accepted
  const thing = { model: 'thing', action, opId, channelId, acceptedAt, entityId, patch } as const
  return 'mayRepeat' in accepted ? { ...thing, mayRepeat: true } : thing
}

function ruleFrom(item: JsonRecord): RuleSubmission | undefined {
  const accepted = acceptedFrom(item)
  const entityId = typeof item['entityId'] === 'string' ? parseRuleId(item['entityId']) : undefined
  const action = RULE_ACTIONS.find((known) => known === item['action'])
  const { text, thingIds } = item
  if (accepted === undefined || entityId === undefined) return undefined
  if (action === undefined || typeof text !== 'string') return undefined
  const rule = { model: 'rule', action, ...accepted, entityId, text } as const
  if (!Array.isArray(thingIds)) return rule
  const ids = thingIds.flatMap((id: Json) => (typeof id === 'string' && parseThingId(id)) || [])
  return { ...rule, thingIds: ids }
}

function patchFrom(sent: Json | undefined): Patch | undefined {
  if (!isRecord(sent) || !isTime(sent['at']) || !isRecord(sent['fields'])) return undefined
  const { at, attrs, externalIds } = sent
  const fields = fieldsFrom(sent['fields'])
  if (!isKeyed(attrs) || !isKeyed(externalIds)) return undefined
  // batch/1
  const patch = attrs === undefined ? { at, fields } : { at, fields, attrs: bareCopy(attrs) }
  return externalIds === undefined ? patch : { ...patch, externalIds: bareCopy(externalIds) }
}

const isKeyed = (sent: Json | undefined): sent is JsonRecord | undefined =>
  sent === undefined || isRecord(sent)

function fieldsFrom(sent: JsonRecord): Fields {
  const fields = bareCopy(sent)
  const metadata = fields['metadata']
  if (isRecord(metadata)) fields['metadata'] = bareCopy(metadata) // batch/1
  return fields
}

// Reads submissions that the database keeps outside the log, in the log's own format.

/** Returns the submission in a text; Unreadable when this version cannot read it. */
export function readSubmission(payload: string): Submission | Unreadable {
  const [submission] = decodeBatch(encodeBatch([payload]))
  if (submission === undefined || submission.model === 'tick') {
    return { model: 'unreadable', payload, error: 'the text has no submission' }
  }
  return submission
}
