// Goal: every row of the table "Event fields" on each of its routes.
// Method: one row a route and a member, with what is kept of it or the code.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { EventAction, EventSubmission } from '#domain/submission'
import { readEvent, readNamedEvent } from '#src/schemas/event'
import { bytesOfText, CHANNEL, CREDENTIALS, making, NOW_MS, PASSWORD } from '#test/support/making'

const ACTIONS: readonly EventAction[] = ['create', 'update', 'close']

const bodyFor = (action: EventAction) =>
  action === 'create'
    ? { ...CREDENTIALS, event_time: 1_763_684_000 }
    : { ...CREDENTIALS, event_id: 'e', event_time: 1_763_684_000 }

interface Sent {
  readonly more?: object
  readonly path?: string
}

const read = (action: EventAction, { more, path }: Sent) =>
  readEvent(
    action,
    { ...bodyFor(action), ...more },
    path === undefined ? making() : { ...making(), pathThingId: path },
  )

function submissionOf(action: EventAction, sent: Sent = {}): EventSubmission {
  const answer = read(action, sent)
  if (isFault(answer)) throw new Error(`${answer.code} ${answer.field ?? ''}`)
  return answer.submission
}

function refusalOf(action: EventAction, sent: Sent): string {
  const answer = read(action, sent)
  return isFault(answer) ? `${answer.code} ${answer.field ?? ''}` : 'accepted'
}

test('each action carries its ids, its time and its credentials', (t) => {
  for (const action of ACTIONS) {
    const { patch, ...submission } = submissionOf(action)
    t.like(submission, { model: 'event', action, channelId: CHANNEL, acceptedAt: NOW_MS })
    t.is(String(submission.entityId), action === 'create' ? '2'.padStart(32, '0') : 'e')
    t.is(
      String(submission.opId),
      `${NOW_MS.toString(16).padStart(13, '0')}-${'1'.padStart(32, '0')}`,
    )
    t.is(patch.at, 1_763_684_000_000)
    t.is(patch.attrs, undefined)
    t.like(read(action, {}), { password: PASSWORD })
  }
})

const LONG = 'x'.repeat(5_000)
const many = Array.from({ length: 40 }, () => ' same ')

// On all three routes: field, value sent, value kept.
const kept: readonly (readonly [field: string, sent: unknown, kept: unknown])[] = [
  ['title', ' Fire ', 'Fire'],
  ['title', '', ''],
  ['title', ' \n', ''],
  ['title', null, undefined],
  ['description', LONG, LONG],
  ['status', LONG, LONG],
  ['message', LONG, LONG],
  ['severity', ' CATASTROPHIC ', 'CATASTROPHIC'],
  ['severity', '', ''],
  ['status', null, undefined],
  ['tags', [], []],
  ['tags', null, undefined],
  ['tags', many, many],
  ['images', ['', LONG], ['', LONG]],
  ['metadata', { a: 1 }, { a: 1 }],
  ['metadata', {}, {}],
  ['ciphertext', 'AAAA', 'AAAA'],
  ['thing_id', ' t ', 't'],
  ['thing_id', '', ''],
  ['thing_id', null, undefined],
  ['unknown', { deep: [1] }, undefined],
  ['state', 'open', undefined],
  ['deleted_at', 1, undefined],
  ['message_id', 'x', undefined],
]

test('each field of an event is kept on every route', (t) => {
  for (const action of ACTIONS) {
    for (const [field, sent, expected] of kept) {
      const { patch } = submissionOf(action, { more: { [field]: sent } })
      t.is(JSON.stringify(patch.fields[field]), JSON.stringify(expected), `${action} ${field}`)
    }
  }
})

const TYPE = 'invalid_json_data'
const INVALID = 'validation_failed'

// On all three routes: field, value sent, code.
const refused: readonly (readonly [field: string, sent: unknown, code: string])[] = [
  ['op_id', 'a', 'op_id_not_allowed'],
  ['op_id', '', 'op_id_not_allowed'],
  ['op_id', 5, 'op_id_not_allowed'],
  ['channel_id', undefined, 'channel_id_required'],
  ['channel_id', 'x', 'invalid_channel_id'],
  ['password', undefined, 'password_required'],
  ['password', 'x', 'invalid_password'],
  ['event_time', undefined, 'event_time_required'],
  ['event_time', null, 'event_time_required'],
  ['event_time', ' ', 'event_time_required'],
  ['event_time', 'noon', 'invalid_timestamp'],
  ['event_time', -5, 'invalid_timestamp'],
  ['event_time', false, TYPE],
  ['title', 5, TYPE],
  ['description', [], TYPE],
  ['status', true, TYPE],
  ['message', {}, TYPE],
  ['severity', 1, TYPE],
  ['severity', '\ud800', INVALID],
  ['tags', 'a', TYPE],
  ['tags', [1], TYPE],
  ['tags', ['\0'], INVALID],
  ['images', [null], TYPE],
  ['attrs', [], TYPE],
  ['attrs', 'x', TYPE],
  ['attrs', { a: { b: ['\ud800'] } }, INVALID],
  ['attrs', { a: Infinity }, INVALID],
  ['metadata', { a: null }, TYPE],
  ['metadata', { a: bytesOfText(513) }, INVALID],
  ['ciphertext', 5, TYPE],
  ['thing_id', 'a b', INVALID],
  ['thing_id', 5, TYPE],
]

test('each field of an event is refused outside its rule on every route', (t) => {
  for (const action of ACTIONS) {
    for (const [field, sent, code] of refused) {
      const label = `${action} ${JSON.stringify(sent)}`
      t.is(refusalOf(action, { more: { [field]: sent } }), `${code} ${field}`, label)
    }
  }
})

// Route, member and value, and the code, or what is kept of it.
const ofRoutes: readonly (readonly [EventAction, string, unknown, unknown])[] = [
  ['create', 'event_id', 'e', 'event_id_forbidden_on_create'],
  ['create', 'event_id', '', 'event_id_forbidden_on_create'],
  ['create', 'event_id', null, undefined],
  ['create', 'ended_at', 1, 'ended_at_forbidden'],
  ['create', 'ended_at', 'x', 'ended_at_forbidden'],
  ['create', 'ended_at', null, undefined],
  ['create', 'started_at', 1, 1_000],
  ['create', 'started_at', 'x', 'invalid_timestamp'],
  ['create', 'started_at', undefined, undefined],
  ['update', 'ended_at', 1, 'ended_at_forbidden'],
  ['update', 'started_at', 1, undefined],
  ['update', 'started_at', { not: 'a time' }, undefined],
  ['close', 'ended_at', 1, 1_000],
  ['close', 'ended_at', 'x', 'invalid_timestamp'],
  ['close', 'ended_at', undefined, undefined],
  ['close', 'started_at', 'x', undefined],
  ['update', 'event_id', undefined, 'event_id_required'],
  ['update', 'event_id', null, 'event_id_required'],
  ['close', 'event_id', ' ', 'event_id_required'],
  ['close', 'event_id', 'a b', INVALID],
  ['update', 'event_id', 'x'.repeat(65), INVALID],
  ['update', 'event_id', 5, TYPE],
]

test('a member of one route is refused or ignored on the others', (t) => {
  for (const [action, field, sent, expected] of ofRoutes) {
    const answer = read(action, { more: { [field]: sent } })
    const got: unknown = isFault(answer) ? answer.code : answer.submission.patch.fields[field]
    t.is(got, expected, `${action} ${field} ${JSON.stringify(sent)}`)
  }
})

test('an event_id of 64 characters is taken', (t) => {
  t.is(String(submissionOf('update', { more: { event_id: 'x'.repeat(64) } }).entityId).length, 64)
})

const paths: readonly (readonly [path: string, body: unknown, expected: string])[] = [
  ['t', undefined, 't'],
  ['t', null, 't'],
  ['t', '', 't'],
  ['t', ' t ', 't'],
  ['t', 'T', 'thing_id_mismatch thing_id'],
  ['t', 'u', 'thing_id_mismatch thing_id'],
  ['a b', undefined, 'validation_failed thing_id'],
  ['', undefined, 'validation_failed thing_id'],
  ['x'.repeat(65), undefined, 'validation_failed thing_id'],
]

test('below a thing the path gives the thing_id, and the body may only repeat it', (t) => {
  for (const action of ACTIONS) {
    for (const [path, thing_id, expected] of paths) {
      const answer = read(action, { path, more: { thing_id } })
      const got = isFault(answer)
        ? `${answer.code} ${answer.field ?? ''}`
        : answer.submission.patch.fields['thing_id']
      t.is(got, expected, `${action} ${path} ${String(thing_id)}`)
    }
  }
})

test('attrs are kept key by key with their nulls, apart from the fields', (t) => {
  const attrs = { a: null, b: [1, { c: null }], d: false, '': 'empty' }
  const { patch } = submissionOf('update', { more: { attrs } })
  t.is(JSON.stringify(patch.attrs), JSON.stringify(attrs))
  t.false('attrs' in patch.fields)
})

test('shape/1: of several refusals the first in the order is given', (t) => {
  const wrong = { op_id: 'a', event_id: 'e', ended_at: 1, event_time: null, channel_id: 5 }
  t.is(refusalOf('create', { more: wrong }), 'op_id_not_allowed op_id')
  const { op_id: _, ...more } = wrong
  t.is(refusalOf('create', { more }), 'event_id_forbidden_on_create event_id')
  t.is(refusalOf('update', { more }), 'ended_at_forbidden ended_at')
  t.is(refusalOf('close', { more }), 'event_time_required event_time')
  t.is(refusalOf('close', { more: { channel_id: 5 } }), 'invalid_json_data channel_id')
})

test('an Event that its way in names is opened or changed under that name, and began when it says', (t) => {
  const sent = { ...CREDENTIALS, event_time: 1_767_225_600, started_at: 1_767_225_000 }
  const named = readNamedEvent('camera:1', sent, making())
  if (isFault(named)) return t.fail(named.code)
  const { action, entityId, patch } = named.submission
  t.deepEqual(
    [action, entityId, patch.fields['started_at']],
    ['update', 'camera:1', 1_767_225_000_000],
  )
  const misnamed = readNamedEvent('a b', sent, making())
  t.is(isFault(misnamed) ? misnamed.field : '', 'event_id')
  return undefined
})
