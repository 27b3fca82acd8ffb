// Goal: the SDK's types say what the gateway takes and answers.
// Method: bodies that the compiler must take, and such that it must refuse: `tsc` judges this file,
// and the readers of the gateway judge the same bodies.

import test from 'ava'

import { isFault } from '#domain/fault'
import type * as Wire from '#src/client/bodies'
import { STATE } from '#src/schemas/reading-routes'
import { readersOf } from '#src/schemas/shape'
import { readMessage } from '#src/schemas/message'
import { readThing } from '#src/schemas/thing'
import { CREDENTIALS, making } from '#test/support/making'

const READ = readersOf(STATE)

const credentials: Wire.Credentials = CREDENTIALS
const device_key = 'f'.repeat(32)

const codeOf = (read: unknown): unknown => (isFault(read) ? read.code : 'taken')
const thing = (body: Wire.ThingUpdateBody): unknown => codeOf(readThing('update', body, making()))
const message = (body: Wire.MessageBody): unknown => codeOf(readMessage(body, making()))
const get = (body: Wire.BodyOf<'/thing/get'>): unknown => codeOf(READ.thing(body))

const KNOWN = { ...credentials, thing_id: 't', observed_at: 5 } as const

test('a body that the compiler takes is one that the gateway takes', (t) => {
  t.is(thing({ ...KNOWN, primary_image: '', tags: ['a'], attrs: { a: { b: [null] } } }), 'taken')
  t.is(message({ ...credentials, title: 't', severity: 'odd', ttl: '5', images: ['i'] }), 'taken')
  t.is(get({ ...credentials, thing_id: 't' }), 'taken')
  t.is(get({ channel_id: CREDENTIALS.channel_id, device_key, thing_id: 't' }), 'taken')
})

test('a body that the compiler refuses is one that the gateway refuses', (t) => {
  // @ts-expect-error An update names its Thing.
  t.is(thing({ ...credentials, observed_at: 5 }), 'thing_id_required')
  // @ts-expect-error The gateway makes the op_id of a Thing.
  t.is(thing({ ...KNOWN, op_id: 'o' }), 'op_id_not_allowed')
  // @ts-expect-error Only delete takes it.
  t.is(thing({ ...KNOWN, deleted_at: 5 }), 'deleted_at_forbidden')
  // @ts-expect-error Tags are texts.
  t.is(thing({ ...KNOWN, tags: [1] }), 'invalid_json_data')
  // @ts-expect-error A title is text.
  t.is(message({ ...credentials, title: 3 }), 'invalid_json_data')
  // @ts-expect-error Metadata has no objects inside.
  t.is(message({ ...credentials, title: 't', metadata: { a: {} } }), 'invalid_json_data')
  // @ts-expect-error A reader shows one credential.
  t.is(get({ ...credentials, device_key, thing_id: 't' }), 'validation_failed')
})

test('an answer has the types of its schema', (t) => {
  const record = { thing_id: 't', rev: 1, seq: 1, changed_at: 1, observed_at: 1, attrs: {} }
  const active: Wire.ThingRecord = { ...record, state: 'active', primary_image: 'i', later: 1 }
  // @ts-expect-error A Thing is active, archived or deleted.
  const odd: Wire.ThingRecord = { ...record, state: 'open' }
  t.deepEqual([active.primary_image, odd.state], ['i', 'open'])
})
