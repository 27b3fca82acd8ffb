// The topics of the gateway itself: `things/…`, `events/…` and `messages`.

import { fault } from '#domain/fault'
import { EVENT_SUBMISSION_ACTIONS } from '#domain/submission'
import type { ThingAction } from '#domain/submission'
import { invalid } from '#src/schemas/values'
import { level, object, scalar, text } from './family.ts'
import type { Reader, Received, Row } from './family.ts'
import { beginsAsObject } from './payload.ts'
import type { JsonObject } from './payload.ts'
import { attrs, event, message, oneAttr, become, thing, textMessage } from './wishes.ts'

/** The level of a topic that stands for an attr: `Inputs/A` is `Inputs%2FA`. */
export const attrLevelOf = (name: string): string => name.replace(/[%/+#]/g, encodeURIComponent)

/** The attr that a level stands for; a percent sign that begins no escape stands for itself. */
export const attrNameOf = (encoded: string): string =>
  encoded.replace(/%(?:25|2F|2B|23)/gi, decodeURIComponent)

/** Fields of a payload without credentials, which are those of the session. */
function fieldsOf({ channel_id: _channel, password: _password, ...fields }: JsonObject) {
  return fields
}

/** The refusal of a payload that repeats the id of its topic with a difference. */
const mismatch = (field: 'thing_id' | 'event_id', payload: JsonObject, id: string) =>
  (payload[field] ?? id) === id
    ? undefined
    : field === 'thing_id'
      ? fault('thing_id_mismatch', { field })
      : invalid(field, 'differs between the topic and the payload')

const EMPTY_OBJECT = new TextEncoder().encode('{}')

/** An action on the Thing that the topic names; the ending of one needs no fields. */
function onThing(action: Exclude<ThingAction, 'create'>): Reader {
  const reader = object((payload, received) => {
    const id = level(received, 'thing')
    const fields = fieldsOf(payload)
    const at = fields['observed_at'] ?? received.receivedAtMs
    return mismatch('thing_id', payload, id) ?? become(thing(id, at, fields, action))
  })
  if (action === 'update') return reader
  return (received) =>
    reader(received.payload.length > 0 ? received : { ...received, payload: EMPTY_OBJECT })
}

const someAttrs = object((payload, received) =>
  become(...attrs(level(received, 'thing'), received.receivedAtMs, payload)),
)

const attr = scalar((value, received) =>
  become(
    ...attrs(
      level(received, 'thing'),
      received.receivedAtMs,
      oneAttr(attrNameOf(level(received, 'name')), value),
    ),
  ),
)

const messageJson = object((payload, { receivedAtMs }) => {
  const fields = fieldsOf(payload)
  const isTimed = fields['thing_id'] === undefined || fields['occurred_at'] !== undefined
  return become(message(isTimed ? fields : { ...fields, occurred_at: receivedAtMs }))
})

const messageText = text((body) => become(textMessage(body)))

/** Text, or a JSON object with the fields of a Message. */
function anyMessage(received: Received): ReturnType<Reader> {
  return beginsAsObject(received.payload) ? messageJson(received) : messageText(received)
}

const EVENT_ACTION_RULE = 'must be create, update, close or acknowledge'

/** A step of the Event that the topic names. */
const anyEvent = object(({ action: said, ...payload }, received) => {
  const id = level(received, 'event')
  const action = EVENT_SUBMISSION_ACTIONS.find((known) => known === said)
  if (action === undefined) return invalid('action', EVENT_ACTION_RULE)
  const fields = fieldsOf(payload)
  const at = fields['event_time'] ?? received.receivedAtMs
  return mismatch('event_id', payload, id) ?? become(event(id, at, { ...fields, action }))
})

export const SESSION_TOPICS: readonly Row[] = [
  { topic: 'things/+thing', read: onThing('update') },
  { topic: 'things/+thing/attrs', read: someAttrs },
  { topic: 'things/+thing/attrs/+name', read: attr },
  { topic: 'things/+thing/archive', read: onThing('archive') },
  { topic: 'things/+thing/delete', read: onThing('delete') },
  { topic: 'messages', read: anyMessage },
  { topic: 'events/+event', read: anyEvent },
]
