// The gateway's own topics: what a publish to one of them submits. Pure: topic, payload and time
// in, intent and fields out. (Specification: Topics of a session)
//
// Invariants:
//   topics/1. A topic or payload that means nothing is a fault that says why; nothing is guessed.
//   topics/2. The fields are read by the readers of HTTP bodies, after this: none of their checks
//             stands here.

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { bare, isRecord } from '#domain/record'
import type { Answer } from '#domain/ports'
import type { EventAction, ThingAction } from '#domain/submission'
import type { Intent } from '#src/acceptance/intent'
import { readJson } from '#src/schemas/json/json'
import { invalid } from '#src/schemas/values'

/** One PUBLISH, with its topic alias resolved; a will is one too. */
export interface Publish {
  readonly topic: string
  readonly payload: Uint8Array
  /** The time at which the whole packet had arrived, in Unix milliseconds. */
  readonly receivedAtMs: number
}

/** A submission as acceptance takes it, without its credentials. */
export interface Wish {
  readonly intent: Intent
  readonly fields: Readonly<Record<string, unknown>>
}

/** Turns a publish into submissions, in the order in which they count; or refuses it. */
export type Translate = (publish: Publish) => Answer<readonly Wish[]>

export const TOPIC_BYTES_MAX = 512
const LEVEL_BYTES_MAX = 128
export const LEVELS_MAX = 16
/** Bytes of a payload, as of the body of a submission over HTTP. */
export const PAYLOAD_BYTES_MAX = 32_768
const TITLE_BYTES_MAX = 128

/** The levels of a topic or a filter within the bounds; undefined beyond them. */
export function levelsOf(topic: string): readonly string[] | undefined {
  if (topic === '' || topic.includes('\0')) return undefined
  if (Buffer.byteLength(topic) > TOPIC_BYTES_MAX) return undefined
  const levels = topic.split('/')
  if (levels.length > LEVELS_MAX) return undefined
  return levels.every((level) => Buffer.byteLength(level) <= LEVEL_BYTES_MAX) ? levels : undefined
}

const NO_TOPIC = fault('route_not_found', { field: 'topic', detail: 'this is no topic' })
const UNMAPPED = fault('route_not_found', {
  field: 'topic',
  detail: 'nothing maps this topic; docs/mqtt.md lists those of a session',
})
const TOO_LARGE = fault('body_too_large', {
  detail: `a payload has at most ${PAYLOAD_BYTES_MAX} bytes`,
})

/** Reads a publish to one of the gateway's own topics; route_not_found for any other one. */
export const readOwnTopic: Translate = ({ topic, payload, receivedAtMs }) => {
  const levels = /[+#]/.test(topic) ? undefined : levelsOf(topic)
  if (levels === undefined) return NO_TOPIC
  const [model, id = '', part, name = ''] = levels
  const reader = READERS[`${model} ${levels.length} ${part ?? ''}`]
  if (reader === undefined || (id === '' && levels.length > 1)) return UNMAPPED
  if (payload.length > PAYLOAD_BYTES_MAX) return TOO_LARGE
  return reader({ id, name, payload, receivedAtMs })
}

interface Received {
  readonly id: string
  readonly name: string
  readonly payload: Uint8Array
  readonly receivedAtMs: number
}
type Reader = (received: Received) => Answer<readonly Wish[]>
type JsonObject = Readonly<Record<string, unknown>>

const object =
  (make: (sent: JsonObject, received: Received) => Answer<readonly Wish[]>): Reader =>
  (received) => {
    const sent = received.payload.length === 0 ? {} : readJson(received.payload)
    if (isFault(sent)) return sent
    return isRecord(sent) ? make(sent, received) : invalidPayload('must be a JSON object')
  }

const thing = (action: Exclude<ThingAction, 'create'>): Reader =>
  object((sent, { id, receivedAtMs }) => {
    const { thing_id: named = id } = sent
    if (named !== id) return fault('thing_id_mismatch', { field: 'thing_id' })
    const fields = { observed_at: receivedAtMs, ...sent, thing_id: id }
    return [{ intent: { model: 'thing', action }, fields }]
  })

const attrs = object((sent, { id, receivedAtMs }) => [attrsOf(id, receivedAtMs, sent)])

const attr: Reader = ({ id, name, payload, receivedAtMs }) => {
  const value = readScalar(payload)
  if (isFault(value)) return value
  const set = bare<unknown>()
  set[name] = value
  return [attrsOf(id, receivedAtMs, set)]
}

const attrsOf = (id: string, at: number, set: JsonObject): Wish => ({
  intent: { model: 'thing', action: 'update' },
  fields: { thing_id: id, observed_at: at, attrs: set },
})

/** An Event whose id the sender chose begins with its first update, so create is one too. */
const EVENT_ACTIONS: ReadonlyMap<unknown, EventAction> = new Map([
  ['create', 'update'],
  ['update', 'update'],
  ['close', 'close'],
])

const event = object(({ action, ...sent }, { id, receivedAtMs }) => {
  const known = EVENT_ACTIONS.get(action)
  if (known === undefined) {
    const detail = 'action must be create, update or close'
    return fault('validation_failed', { field: 'action', detail })
  }
  const fields = { event_time: receivedAtMs, ...sent, event_id: id }
  return [{ intent: { model: 'event', action: known }, fields }]
})

/** A JSON object has the fields of a Message; any other text is its body. */
const message: Reader = ({ payload }) => {
  const intent = { model: 'message', action: 'send' } as const
  const sent = readJson(payload)
  if (!isFault(sent) && isRecord(sent)) return [{ intent, fields: sent }]
  const text = readText(payload)
  return isFault(text) ? text : [{ intent, fields: { title: titleOf(text), body: text } }]
}

/** By first level, number of levels and third level. */
const READERS: Readonly<Record<string, Reader>> = {
  'messages 1 ': message,
  'events 2 ': event,
  'things 2 ': thing('update'),
  'things 3 attrs': attrs,
  'things 4 attrs': attr,
  'things 3 archive': thing('archive'),
  'things 3 delete': thing('delete'),
}

/** The first line of a text, cut between characters. */
function titleOf(text: string): string {
  let title = ''
  for (const character of text.trim().split('\n', 1)[0]?.trim() ?? '') {
    if (Buffer.byteLength(title + character) > TITLE_BYTES_MAX) return `${title}…`
    title += character
  }
  return title
}

const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['', null],
  ['nan', null],
  ['null', null],
  ['on', true],
  ['online', true],
  ['true', true],
  ['off', false],
  ['offline', false],
  ['false', false],
])

/** One value as devices write it; null, which removes the attr, for an empty one and for nan. */
function readScalar(payload: Uint8Array): Answer<string | number | boolean | null> {
  const text = readText(payload)
  if (isFault(text)) return text
  const word = WORDS.get(text.trim().toLowerCase())
  if (word !== undefined) return word
  const value = readJson(payload)
  if (typeof value === 'string') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  return typeof value === 'object' && !isFault(value) ? invalidPayload('must be one value') : text
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function readText(payload: Uint8Array): Answer<string> {
  try {
    return decoder.decode(payload)
  } catch {
    return invalidPayload('must be text in UTF-8')
  }
}

const invalidPayload = (rule: string): Fault => invalid('payload', rule)
