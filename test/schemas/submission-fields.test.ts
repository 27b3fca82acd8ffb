// Goal: a line of submission-fields.ts is all that a field needs.
// Method: for each action, a body with the example of every declared field it takes.

import test from 'ava'

import { EVENT_ACTIONS, THING_ACTIONS } from '#domain/submission'
import { isFault } from '#domain/fault'
import { membersOf, optionsOf } from '#src/cli/values'
import { exampleOf } from '#src/schemas/document/examples'
import { readEvent } from '#src/schemas/event'
import { EVENT_DATA, EVENT_REQUESTS } from '#src/schemas/event-schemas'
import { EVENT_FIELDS, MESSAGE_FIELDS, THING_FIELDS } from '#src/schemas/fields/submission-fields'
import { fieldsOf } from '#src/schemas/fields/submission-fields'
import type { Fields } from '#src/schemas/fields/submission-fields'
import type { ObjectSchema } from '#src/schemas/json-schema'
import { readMessage } from '#src/schemas/message'
import { MESSAGE_REQUEST } from '#src/schemas/message-schemas'
import { readThing } from '#src/schemas/thing'
import { THING_DATA, THING_REQUESTS } from '#src/schemas/thing-schemas'
import { CREDENTIALS, making } from '#test/support/making'

interface Row {
  readonly name: string
  readonly action: string
  readonly fields: Fields
  readonly request: ObjectSchema
  readonly answer?: ObjectSchema
  readonly read: (body: object) => unknown
}

const rows: readonly Row[] = [
  {
    name: 'message',
    action: 'send',
    fields: MESSAGE_FIELDS,
    request: MESSAGE_REQUEST,
    read: (body) => readMessage(body, making()),
  },
  ...EVENT_ACTIONS.map((action) => ({
    name: `event ${action}`,
    action,
    fields: EVENT_FIELDS,
    request: EVENT_REQUESTS[action],
    answer: EVENT_DATA,
    read: (body: object) =>
      readEvent(action, { event_time: 5, ...(action !== 'create' && ID), ...body }, making()),
  })),
  ...THING_ACTIONS.map((action) => ({
    name: `thing ${action}`,
    action,
    fields: THING_FIELDS,
    request: THING_REQUESTS[action],
    answer: THING_DATA,
    read: (body: object) =>
      readThing(action, { observed_at: 5, ...(action !== 'create' && ID), ...body }, making()),
  })),
]
const ID = { event_id: 'e', thing_id: 't' }

test('a declared field is in the request, kept by the reader, and in the answer', (t) => {
  for (const { name, action, fields, request, answer, read } of rows) {
    // A time from now on has no example that stays right.
    const taken = fieldsOf(fields, action).flatMap(([field]) =>
      field === 'deliver_at' ? [] : [field],
    )
    const body = Object.fromEntries(taken.map((field) => [field, exampleOf(field, {})]))
    const kept = read({ ...CREDENTIALS, ...body })
    t.false(isFault(kept), name)
    for (const field of taken) {
      t.true(field in request.properties, `${name} ${field}`)
      t.true(answer === undefined || field in answer.properties, `${name} ${field}`)
      const isKept = JSON.stringify(kept).includes(JSON.stringify(body[field]).slice(1, -1))
      t.true(isKept || fields[field]?.kind === 'time', `${name} ${field}`)
    }
  }
})

test('a declared field has an option whose value reaches the body under the name of the field', (t) => {
  for (const { name, action, fields } of rows) {
    const options = optionsOf(fields, action)
    const declared = fieldsOf(fields, action).filter(([, { option }]) => option !== undefined)
    t.is(Object.keys(options).length, declared.length, name)
    const typed = new Map<string, unknown>()
    for (const [option, { read, choices, placeholder }] of Object.entries(options)) {
      const sample = placeholder === '<step>' ? '5m:1' : '5'
      const text = choices?.[0] ?? (placeholder?.includes('=') === true ? 'k=1' : sample)
      typed.set(option, read([text]))
    }
    t.deepEqual(
      Object.keys(membersOf(fields, action, Object.fromEntries(typed))),
      declared.map(([field]) => field),
      name,
    )
  }
})
