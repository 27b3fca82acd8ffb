// Messages: reads a body or a query, and gives the content that an op_id stands for.
//
// Order of refusals: shape/1, then the values of channel_id, password, title, occurred_at
// where thing_id asks for it, and the rest in the order of the fields.
//
// Invariants:
//   message/1. Equal content gives equal text: neither the order of metadata keys, nor the time of
//              the request, nor the cap of ttl at "now + 30 days", nor a severity that says no more
//              than its absence makes a repeat differ from its first attempt.

import { fault, isFault } from '#domain/fault'
import { operationIdFrom, parseMessageId, parseOperationId, parseThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { MessageSubmission, Severity } from '#domain/submission'

import { parseExactly } from './json/exact-json.ts'
import { FieldReader, IMAGE_BYTES_MAX, TAG_BYTES_MAX } from './fields.ts'
import type { SentMetadata, SentTexts } from './fields.ts'
import { isRecord, shape } from './shape.ts'
import { MESSAGE_REQUEST } from './submission-schemas.ts'
import { newId } from './submission.ts'
import type { Making, ReadSubmission } from './submission.ts'
import { ENTITY_ID_RULE, invalid, isTimeAbsent, OPERATION_ID_RULE } from './values.ts'
import { readCredentials, readParsed } from './values.ts'
import type { SentText, SentTime } from './values.ts'

/** The longest time between the acceptance of a message and its ttl: 30 days. */
export const TTL_MAX_MS = 2_592_000_000

interface MessageBody {
  readonly channel_id: string
  readonly password: string
  readonly title: string
  readonly op_id?: SentText
  readonly body?: SentText
  readonly severity?: SentText
  readonly occurred_at?: SentTime
  readonly ttl?: SentTime
  readonly url?: SentText
  readonly images?: SentTexts
  readonly tags?: SentTexts
  readonly metadata?: SentMetadata
  readonly ciphertext?: SentText
  readonly thing_id?: SentText
}

const messageShape = shape<MessageBody>({
  schema: MESSAGE_REQUEST,
  forbidden: { message_id: 'message_id_forbidden' },
  missing: {
    channel_id: 'channel_id_required',
    password: 'password_required',
    title: 'title_required',
  },
})

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
  const thingId = readParsed('thing_id', body.thing_id, THING_ID_FORM)
  if (thingId !== undefined && isTimeAbsent(body.occurred_at)) {
    return fault('occurred_at_required_for_thing_scoped_message', { field: 'occurred_at' })
  }
  const claimedId = readParsed('op_id', body.op_id, OPERATION_ID_FORM)
  if (isFault(claimedId)) return claimedId
  if (isFault(thingId)) return thingId

  const reader = new FieldReader()
  const ttl = readContent(reader, body, making.nowMs)
  if (thingId !== undefined) reader.fields['thing_id'] = thingId
  if (reader.fault !== undefined) return reader.fault

  const submission: MessageSubmission = {
    model: 'message',
    action: 'send',
    opId: claimedId ?? operationIdFrom(making.nowMs, making.newHex32()),
    channelId: credentials.channelId,
    acceptedAt: making.nowMs,
    entityId: newId(parseMessageId, making),
    claimed: claimedId !== undefined,
    fields: reader.fields,
    ...(ttl !== undefined && ttl !== reader.fields['ttl'] && { uncappedTtl: ttl }),
  }
  return { submission, password: credentials.password }
}

const THING_ID_FORM = { parse: parseThingId, rule: ENTITY_ID_RULE }
const OPERATION_ID_FORM = { parse: parseOperationId, rule: OPERATION_ID_RULE }

/** Reads the content of the message; gives its ttl before the cap. */
function readContent(reader: FieldReader, body: MessageBody, nowMs: number): number | undefined {
  reader.text('title', body.title)
  reader.text('body', body.body)
  const severity = severityOf(body.severity)
  if (severity !== undefined) reader.fields['severity'] = severity
  reader.time('occurred_at', body.occurred_at)
  const ttl = reader.time('ttl', body.ttl, nowMs + TTL_MAX_MS)
  reader.text('url', body.url)
  reader.limitedTexts('images', body.images, IMAGE_BYTES_MAX)
  reader.limitedTexts('tags', body.tags, TAG_BYTES_MAX)
  const metadata = body.metadata ?? {}
  if (Object.keys(metadata).length > 0) reader.metadata(metadata)
  reader.text('ciphertext', body.ciphertext)
  return ttl
}

function severityOf(sent: SentText): Severity | undefined {
  const name = sent?.trim().toLowerCase() ?? ''
  if (name === '') return undefined
  return SEVERITIES.find((severity) => severity === name) ?? DEFAULT_SEVERITY
}

/**
 * GET /message: turns the parameters into the body of a POST. The first of a repeated parameter
 * counts; parameters that are no field of a message are left out.
 */
export function messageBodyFromQuery(query: URLSearchParams): Answer<Record<string, unknown>> {
  const body: Record<string, unknown> = {}
  for (const name of Object.keys(MESSAGE_REQUEST.properties)) {
    const value = query.get(name)
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
export function contentOf({ fields, uncappedTtl }: MessageSubmission): string {
  const names = Object.keys(fields).filter(
    (name) => name !== 'thing_id' && !(name === 'severity' && fields[name] === DEFAULT_SEVERITY),
  )
  const content = names.toSorted().map((name) => {
    const value = name === 'ttl' ? (uncappedTtl ?? fields[name]) : fields[name] // message/1
    return [name, sortedEntries(value)]
  })
  return JSON.stringify(content)
}

/** The members of an object in the order of their keys; any other value as it is. (message/1) */
function sortedEntries(value: unknown): unknown {
  return isRecord(value) ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)) : value
}
