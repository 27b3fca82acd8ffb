// Messages: reads a body or a query, and gives the content that an op_id stands for.
//
// Order of refusals: shape/1, then the values of channel_id, password, title, occurred_at
// where thing_id asks for it, and the rest in the order of the fields.
//
// Invariants:
//   message/1. Equal content gives equal text: neither the order of metadata keys, nor the time of
//              the request, nor the cap of ttl at "now + 30 days" or its count from now, nor the
//              time that a delay gives, nor a severity that says no more than its absence makes a
//              repeat differ from its first attempt.

import { fault, isFault } from '#domain/fault'
import { parseMessageId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { DEFAULT_SEVERITY } from '#domain/submission'
import type { MessageSubmission, Schedule } from '#domain/submission'
import { isRecord } from '#domain/record'

import { DELAY_FORM, delayMs } from '#src/rules/durations'
import { parseExactly } from './json/exact-json.ts'
import { fieldsReaderOf } from './fields/field-reader.ts'
import { shape } from './shape.ts'
import { MESSAGE_FIELDS } from './fields/submission-fields.ts'
import { MESSAGE_REQUEST } from './message-schemas.ts'
import { newId, opIdOf } from './submission.ts'
import type { Making, ReadSubmission } from './submission.ts'
import { ENTITY_ID, invalid, isTimeAbsent, OPERATION_ID } from './values.ts'
import { readCredentials, readParsed } from './values.ts'
import type { SentText } from './values.ts'

/** The longest time between the acceptance of a message and its ttl: 30 days. */
export const TTL_MAX_MS = 2_592_000_000

const messageShape = shape(MESSAGE_REQUEST)
const readFields = fieldsReaderOf(MESSAGE_FIELDS, 'send')

/** POST /message: reads an unknown body as a Message; gives the first fault if there is one. */
export function readMessage(
  sent: unknown,
  making: Making,
): Answer<ReadSubmission<MessageSubmission>> {
  const body = messageShape(sent)
  if (isFault(body)) return body

  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  if (body.title.trim() === '') return fault('title_required', { field: 'title' })
  const thingId = readParsed('thing_id', body.thing_id, ENTITY_ID)
  if (thingId !== undefined && isTimeAbsent(body.occurred_at)) {
    return fault('occurred_at_required_for_thing_scoped_message', { field: 'occurred_at' })
  }
  const claimedId = readParsed('op_id', body.op_id, OPERATION_ID)
  if (isFault(claimedId)) return claimedId
  if (isFault(thingId)) return thingId

  const { fault: refusal, fields } = readFields(body)
  if (refusal !== undefined) return refusal
  if (isRecord(fields['metadata']) && Object.keys(fields['metadata']).length === 0) {
    delete fields['metadata'] // A Message replaces nothing, so an empty object says nothing.
  }
  const schedule = scheduleOf(fields, body.delay, making.nowMs)
  if (isFault(schedule)) return schedule
  const begin = schedule?.deliverAt ?? making.nowMs
  const ttl = fields['ttl'] as number | undefined
  const end = endOf(ttl, begin)
  if (end !== undefined) fields['ttl'] = end
  if (thingId !== undefined) fields['thing_id'] = thingId

  const submission: MessageSubmission = {
    model: 'message',
    action: 'send',
    opId: claimedId ?? opIdOf(making),
    channelId: credentials.channelId,
    acceptedAt: making.nowMs,
    entityId: newId(parseMessageId, making),
    claimed: claimedId !== undefined,
    fields,
    ...(end !== ttl && ttl !== undefined && { uncappedTtl: ttl }),
    ...(schedule && { schedule }),
  }
  return { submission, password: credentials.password }
}

/**
 * The time at which delivery ends. A time in January 1970 is meant as seconds from when the Message
 * enters the feed, as in every comparable tool; a later one than 30 days after that is brought
 * forward.
 */
function endOf(ttl: number | undefined, begin: number): number | undefined {
  if (ttl === undefined) return undefined
  return Math.min(ttl <= TTL_MAX_MS ? begin + ttl : ttl, begin + TTL_MAX_MS)
}

const DELAY_MS_MIN = 10_000
const DELAY_MS_MAX = 30 * 86_400_000

/** Reads when the Message enters the feed; takes that out of its fields. */
function scheduleOf(
  fields: Record<string, unknown>,
  sentDelay: SentText,
  nowMs: number,
): Answer<Schedule | undefined> {
  const time = fields['deliver_at'] as number | undefined
  const delay = sentDelay?.trim() ?? ''
  if (time === undefined && delay === '') return undefined
  delete fields['deliver_at']
  if (time !== undefined) {
    if (delay !== '') return invalid('delay', 'must not be sent together with deliver_at')
    return isWithin(time - nowMs) ? { deliverAt: time } : DELIVER_AT_REFUSAL
  }
  const ms = delayMs(delay)
  return ms === undefined ? DELAY_REFUSAL : { deliverAt: nowMs + ms, delay }
}

const isWithin = (ms: number): boolean => ms >= DELAY_MS_MIN && ms <= DELAY_MS_MAX

const DELAY_REFUSAL = invalid('delay', `must be ${DELAY_FORM}`)
const DELIVER_AT_REFUSAL = invalid('deliver_at', 'must be 10 seconds to 30 days from now')

const ESCAPES = /(?:%[0-9a-f]{2})+/gi

/** The escapes, or nothing when their bytes are not UTF-8. */
function withoutOtherBytes(escapes: string): string {
  try {
    decodeURIComponent(escapes)
    return escapes
  } catch {
    return '' // It only throws for bytes that are not UTF-8.
  }
}

/**
 * GET /message: turns the parameters into the body of a POST. The first of a repeated parameter
 * counts; parameters that are no field of a message are left out. Bytes that are not UTF-8 are
 * refused, as in a body: URLSearchParams would put U+FFFD in their place.
 */
export function messageBodyFromQuery(sent: string): Answer<Record<string, unknown>> {
  const query = new URLSearchParams(sent)
  const exact = new URLSearchParams(sent.replace(ESCAPES, withoutOtherBytes))
  const body: Record<string, unknown> = {}
  for (const name of Object.keys(MESSAGE_REQUEST.properties)) {
    const value = query.get(name)
    if (value !== exact.get(name)) return invalid(name, 'must be UTF-8')
    if (value !== null) body[name] = value
  }
  for (const name of ['images', 'tags']) {
    const list = query.get(name)
    if (list !== null) body[name] = list.split(',').filter((item) => item.trim() !== '')
  }
  const metadata = query.get('metadata')?.trim() ?? ''
  if (metadata === '') delete body['metadata']
  else {
    const read = readMetadataText(metadata)
    if (read === undefined) return invalid('metadata', 'must be the JSON text of an object')
    body['metadata'] = read
  }
  return body
}

function readMetadataText(text: string): object | undefined {
  try {
    const value = parseExactly(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined // The error of JSON.parse would quote the caller's text.
  }
}

/**
 * The canonical text of a message's content, to whose hash an op_id is bound. It leaves out what
 * differs between attempts (ids, times of acceptance) and the scope (channel, thing_id), which is
 * compared apart. (decisions.md 6)
 */
export function contentOf({ fields, uncappedTtl, schedule }: MessageSubmission): string {
  const names = Object.keys(fields).filter(
    (name) => name !== 'thing_id' && !(name === 'severity' && fields[name] === DEFAULT_SEVERITY),
  )
  const content = names.toSorted().map((name) => {
    const value = name === 'ttl' ? (uncappedTtl ?? fields[name]) : fields[name] // message/1
    return [name, sortedEntries(value)]
  })
  if (schedule !== undefined) content.push(['deliver', schedule.delay ?? schedule.deliverAt])
  return JSON.stringify(content)
}

/** The members of an object in the order of their keys; any other value as it is. (message/1) */
function sortedEntries(value: unknown): unknown {
  return isRecord(value) ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value
}
