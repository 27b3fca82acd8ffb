// Goal: every row of the table "Message fields" and of the common fields, with its limits.
// Method: one row a value that is sent for one field, and what is kept or the code.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { MessageSubmission } from '#domain/submission'
import { readMessage, TTL_MAX_MS } from '#src/schemas/message'
import { bytesOfText, CHANNEL, CREDENTIALS, making, NOW_MS, PASSWORD } from '#test/support/making'

const BODY = { ...CREDENTIALS, title: 'Door open' }

function submissionOf(body: unknown): MessageSubmission {
  const read = readMessage(body, making())
  if (isFault(read)) throw new Error(`${read.code} ${read.field ?? ''} ${read.detail ?? ''}`)
  return read.submission
}

const refusalOf = (body: unknown): string => {
  const read = readMessage(body, making())
  if (!isFault(read)) return 'accepted'
  return read.field === undefined ? read.code : `${read.code} ${read.field}`
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`)
const repeated = [...numbered(32), ...numbered(32), ' t0 ']

// Field, value sent, value kept; undefined for absent.
const kept: readonly (readonly [field: string, sent: unknown, kept: unknown])[] = [
  ['title', '  Door ', 'Door'],
  ['body', ' **now** ', '**now**'],
  ['body', ' ', undefined],
  ['body', null, undefined],
  ['severity', 'critical', 'critical'],
  ['severity', ' HIGH ', 'high'],
  ['severity', 'normal', 'normal'],
  ['severity', 'Low', 'low'],
  ['severity', 'catastrophic', 'normal'],
  ['severity', '', undefined],
  ['severity', null, undefined],
  ['occurred_at', 1_763_684_000, 1_763_684_000_000],
  ['occurred_at', '1763684000123', 1_763_684_000_123],
  ['occurred_at', '', undefined],
  ['ttl', NOW_MS + TTL_MAX_MS, NOW_MS + TTL_MAX_MS],
  ['ttl', NOW_MS + TTL_MAX_MS + 1, NOW_MS + TTL_MAX_MS],
  ['ttl', 1, NOW_MS + 1_000],
  ['ttl', 0, NOW_MS],
  ['ttl', '3600', NOW_MS + 3_600_000],
  ['ttl', 2_592_000, NOW_MS + TTL_MAX_MS],
  ['ttl', 2_592_001, 2_592_001_000],
  ['url', ' https://example.org/a ', 'https://example.org/a'],
  ['images', [], undefined],
  ['images', null, undefined],
  ['images', [' a ', 'b', 'a'], ['a', 'b']],
  ['images', [bytesOfText(2048)], [bytesOfText(2048)]],
  ['images', repeated, numbered(32)],
  ['tags', ['b', ' a', 'b ', 'a'], ['b', 'a']],
  ['tags', [` ${bytesOfText(64)} `], [bytesOfText(64)]],
  ['tags', repeated, numbered(32)],
  ['metadata', {}, undefined],
  ['metadata', null, undefined],
  ['metadata', { ' a ': ' x ', b: 1.5, c: false, d: -0 }, { a: 'x', b: 1.5, c: false, d: 0 }],
  ['metadata', { [bytesOfText(64)]: bytesOfText(512) }, { [bytesOfText(64)]: bytesOfText(512) }],
  ['ciphertext', 'AAAA', 'AAAA'],
  ['ciphertext', ' ', undefined],
  ['thing_id', ' a:B_c-9 ', 'a:B_c-9'],
  ['thing_id', 'x'.repeat(64), 'x'.repeat(64)],
  ['thing_id', ' ', undefined],
  // Unknown to a Message, so without effect.
  ['state', 'x', undefined],
  ['event_id', 7, undefined],
  ['ended_at', 'never', undefined],
  ['accepted', true, undefined],
  ['kind', 'fault', undefined],
  ['metadata', { kind: 'fault', code: 'x' }, { kind: 'fault', code: 'x' }],
]

test('shape/2: each field of a message is kept in its normal form', (t) => {
  for (const [field, sent, expected] of kept) {
    const scoped = field === 'thing_id' ? { occurred_at: 1 } : {}
    const { fields } = submissionOf({ ...BODY, ...scoped, [field]: sent })
    const value = fields[field]
    t.is(JSON.stringify(value), JSON.stringify(expected), `${field} ${JSON.stringify(sent)}`)
  }
})

const INVALID = 'validation_failed'
const TYPE = 'invalid_json_data'

// Field, value sent, code; the fault names the same field.
const refused: readonly (readonly [field: string, sent: unknown, code: string])[] = [
  ['channel_id', undefined, 'channel_id_required'],
  ['channel_id', null, 'channel_id_required'],
  ['channel_id', ' ', 'channel_id_required'],
  ['channel_id', 'nope', 'invalid_channel_id'],
  ['channel_id', 5, TYPE],
  ['password', undefined, 'password_required'],
  ['password', null, 'password_required'],
  ['password', '', 'password_required'],
  ['password', 'short', 'invalid_password'],
  ['password', 12_345_678, TYPE],
  ['title', undefined, 'title_required'],
  ['title', null, 'title_required'],
  ['title', '', 'title_required'],
  ['title', ' \n', 'title_required'],
  ['title', ['x'], TYPE],
  ['title', 'a\0', INVALID],
  ['message_id', 'a'.repeat(32), 'message_id_forbidden'],
  ['message_id', '', 'message_id_forbidden'],
  ['message_id', 0, 'message_id_forbidden'],
  ['op_id', 'x'.repeat(129), INVALID],
  ['op_id', 'a b', INVALID],
  ['op_id', 'a/b', INVALID],
  ['op_id', 5, TYPE],
  ['body', 5, TYPE],
  ['body', '\ud800', INVALID],
  ['severity', 1, TYPE],
  ['occurred_at', 'yesterday', 'invalid_timestamp'],
  ['occurred_at', -1, 'invalid_timestamp'],
  ['occurred_at', true, TYPE],
  ['occurred_at', [1], TYPE],
  ['ttl', 253_402_300_800_000, 'invalid_timestamp'],
  ['ttl', Infinity, 'invalid_timestamp'],
  ['ttl', {}, TYPE],
  ['url', {}, TYPE],
  ['images', 'https://example.org', TYPE],
  ['images', [1], TYPE],
  ['images', [null], TYPE],
  ['images', ['a', ' '], INVALID],
  ['images', [bytesOfText(2049)], INVALID],
  ['images', numbered(33), INVALID],
  ['tags', {}, TYPE],
  ['tags', [''], INVALID],
  ['tags', [bytesOfText(65)], INVALID],
  ['tags', ['é'.repeat(33)], INVALID],
  ['tags', numbered(33), INVALID],
  ['tags', ['a\0'], INVALID],
  ['metadata', 'a=b', TYPE],
  ['metadata', [], TYPE],
  ['metadata', { a: null }, TYPE],
  ['metadata', { a: [] }, TYPE],
  ['metadata', { a: {} }, TYPE],
  ['metadata', { a: '' }, INVALID],
  ['metadata', { a: '  ' }, INVALID],
  ['metadata', { a: bytesOfText(513) }, INVALID],
  ['metadata', { a: Infinity }, INVALID],
  ['metadata', { a: NaN }, INVALID],
  ['metadata', { a: '\ud800' }, INVALID],
  ['metadata', { '': 1 }, INVALID],
  ['metadata', { '  ': 1 }, INVALID],
  ['metadata', { [bytesOfText(65)]: 1 }, INVALID],
  ['metadata', { a: 1, ' a': 2 }, INVALID],
  ['metadata', { '\udc00': 1 }, INVALID],
  ['ciphertext', 1, TYPE],
  ['thing_id', 'x'.repeat(65), INVALID],
  ['thing_id', 'a.b', INVALID],
  ['thing_id', 'é', INVALID],
  ['thing_id', 7, TYPE],
]

test('each field of a message is refused outside its rule, and the refusal names it', (t) => {
  for (const [field, sent, code] of refused) {
    const scoped = field === 'thing_id' ? { occurred_at: 1 } : {}
    const body = { ...BODY, ...scoped, [field]: sent }
    t.is(refusalOf(body), `${code} ${field}`, JSON.stringify(sent))
  }
})

test('a body that is no object is refused', (t) => {
  for (const body of [null, [], 'x', 5, true, undefined]) t.is(refusalOf(body), TYPE)
})

test('a thing_id asks for the time of the message', (t) => {
  const code = 'occurred_at_required_for_thing_scoped_message occurred_at'
  for (const occurred_at of [undefined, null, '', ' ']) {
    t.is(refusalOf({ ...BODY, thing_id: 'a', occurred_at }), code)
  }
  t.is(refusalOf({ ...BODY, thing_id: 'a', occurred_at: 0 }), 'accepted')
  t.is(refusalOf({ ...BODY, thing_id: ' ' }), 'accepted')
})

test('shape/1: of several refusals the first in the order is given', (t) => {
  const wrong = {
    message_id: 'x',
    tags: [5],
    thing_id: 'a b',
    op_id: 'a b',
    url: '\ud800',
  }
  t.is(refusalOf(wrong), 'message_id_forbidden message_id')
  const { message_id: _, ...more } = wrong
  t.is(refusalOf(more), 'channel_id_required channel_id')
  t.is(refusalOf({ ...more, channel_id: 'x' }), 'password_required password')
  t.is(refusalOf({ ...more, channel_id: 'x', password: 'x' }), 'title_required title')
  const named = { ...more, channel_id: 'x', password: 'x', title: ' ' }
  t.is(refusalOf(named), 'invalid_json_data tags')
  const typed = { ...named, tags: [''] }
  t.is(refusalOf(typed), 'invalid_channel_id channel_id')
  t.is(refusalOf({ ...typed, channel_id: CHANNEL }), 'invalid_password password')
  t.is(refusalOf({ ...typed, ...CREDENTIALS }), 'title_required title')
  const titled = { ...typed, ...BODY }
  t.is(refusalOf(titled), 'occurred_at_required_for_thing_scoped_message occurred_at')
  t.is(refusalOf({ ...titled, occurred_at: 1 }), 'validation_failed op_id')
  t.is(refusalOf({ ...titled, occurred_at: 1, op_id: 'a' }), 'validation_failed thing_id')
  const identified = { ...titled, thing_id: 'a', occurred_at: 1, op_id: 'a' }
  t.is(refusalOf(identified), 'validation_failed url')
  t.is(refusalOf({ ...identified, url: 'a' }), 'validation_failed tags')
})

test('a refusal names the limit and never the sent value', (t) => {
  const read = readMessage({ ...BODY, metadata: { hunter2: 'x'.repeat(513) } }, making())
  t.regex(isFault(read) ? (read.detail ?? '') : '', /metadata .*512 bytes/)
  const typed = readMessage({ ...BODY, metadata: { hunter2: [] } }, making())
  t.false(JSON.stringify(typed).includes('hunter2'))
})

test('a message carries its ids, its time and its password beside it', (t) => {
  const read = readMessage({ ...BODY, password: ` ${PASSWORD} ` }, making())
  t.like(read, {
    password: PASSWORD,
    submission: {
      model: 'message',
      action: 'send',
      opId: `${NOW_MS.toString(16).padStart(13, '0')}-${'1'.padStart(32, '0')}`,
      entityId: '2'.padStart(32, '0'),
      channelId: CHANNEL,
      acceptedAt: NOW_MS,
      claimed: false,
    },
  })
  t.false(JSON.stringify(isFault(read) ? read : read.submission).includes(PASSWORD))
})

test('an op_id of the client is a claim; a blank one is none', (t) => {
  for (const op_id of ['a', ' a:B_c-9 ', 'x'.repeat(128)]) {
    const { opId, claimed } = submissionOf({ ...BODY, op_id })
    t.deepEqual([String(opId), claimed], [op_id.trim(), true])
  }
  for (const op_id of [undefined, null, '', ' ']) {
    t.false(submissionOf({ ...BODY, op_id }).claimed)
  }
})

test('the fields of a message stand in one order and in a record without a prototype', (t) => {
  const all = {
    thing_id: 'a',
    ciphertext: 'c',
    metadata: { a: 1 },
    tags: ['a'],
    images: ['a'],
    url: 'u',
    ttl: 1,
    occurred_at: 1,
    severity: 'low',
    body: 'b',
    ...BODY,
  }
  const { fields } = submissionOf(all)
  const order = 'title body severity occurred_at ttl url images tags metadata ciphertext thing_id'
  t.is(Object.keys(fields).join(' '), order)
  t.false('toString' in fields)
})

test('fields/3: a value that JSON would not give back is not kept', (t) => {
  const { fields } = submissionOf({ ...BODY, occurred_at: -0, ttl: '-0', metadata: { a: -0 } })
  const metadata: unknown = fields['metadata']
  t.deepEqual(
    [fields['occurred_at'], fields['ttl'], Object.entries(metadata ?? {})],
    [0, NOW_MS, [['a', 0]]],
  )
})

test('a body that calls itself a fault is read like any other', (t) => {
  const sent = { ...BODY, kind: 'fault', code: 'internal_error' }
  t.deepEqual(submissionOf(sent), submissionOf(BODY))
  t.is(refusalOf({ kind: 'fault', code: 'internal_error' }), 'channel_id_required channel_id')
})

test('fields/2: prototype keys of metadata are plain data', (t) => {
  const body: unknown = JSON.parse(
    `{"channel_id":"${CHANNEL}","password":"${PASSWORD}","title":"t",
      "metadata":{"__proto__":"a","constructor":"b","prototype":"c"}}`,
  )
  const { fields } = submissionOf(body)
  t.is(JSON.stringify(fields['metadata']), '{"__proto__":"a","constructor":"b","prototype":"c"}')
  t.false('toString' in Object(fields['metadata']))
})
