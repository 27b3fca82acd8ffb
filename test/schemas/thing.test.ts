// Goal: every row of the table "Thing fields" on each of its routes.
// Method: one row a route and a member, with what is kept of it or the code.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { ThingAction, ThingSubmission } from '#domain/submission'
import { readJson } from '#src/schemas/json/json'
import { readThing } from '#src/schemas/thing'
import { TREE_DEPTH_MAX } from '#src/schemas/json/tree'
import { bytesOfText, CHANNEL, CREDENTIALS, making, NOW_MS, PASSWORD } from '#test/support/making'

const ACTIONS: readonly ThingAction[] = ['create', 'update', 'archive', 'delete']

const bodyFor = (action: ThingAction) =>
  action === 'create'
    ? { ...CREDENTIALS, observed_at: 1_763_684_000 }
    : { ...CREDENTIALS, thing_id: 't', observed_at: 1_763_684_000 }

const read = (action: ThingAction, more: object = {}) =>
  readThing(action, { ...bodyFor(action), ...more }, making())

function submissionOf(action: ThingAction, more: object = {}): ThingSubmission {
  const answer = read(action, more)
  if (isFault(answer)) throw new Error(`${answer.code} ${answer.field ?? ''}`)
  return answer.submission
}

function refusalOf(action: ThingAction, more: object): string {
  const answer = read(action, more)
  return isFault(answer) ? `${answer.code} ${answer.field ?? ''}` : 'accepted'
}

/** `depth` objects inside each other. */
const nested = (depth: number): object =>
  Array.from({ length: depth - 1 }).reduce<object>((inner) => ({ in: inner }), {})

test('each action carries its ids, its time and its credentials', (t) => {
  for (const action of ACTIONS) {
    const { patch, ...submission } = submissionOf(action)
    t.like(submission, { model: 'thing', action, channelId: CHANNEL, acceptedAt: NOW_MS })
    t.is(String(submission.entityId), action === 'create' ? '2'.padStart(32, '0') : 't')
    t.is(patch.at, 1_763_684_000_000)
    t.is(JSON.stringify(patch.fields), '{}')
    t.like(read(action), { password: PASSWORD })
  }
})

const LONG = 'x'.repeat(5_000)

// On all four routes: field, value sent, value kept.
const kept: readonly (readonly [field: string, sent: unknown, kept: unknown])[] = [
  ['title', ' Boiler ', 'Boiler'],
  ['title', '', ''],
  ['title', null, undefined],
  ['description', ' ', ''],
  ['location_value', '', ''],
  ['description', LONG, LONG],
  ['tags', ['a', ' a ', ''], ['a', ' a ', '']],
  ['tags', Array.from({ length: 40 }, () => 'a'), Array.from({ length: 40 }, () => 'a')],
  ['images', [LONG], [LONG]],
  ['images', null, undefined],
  ['primary_image', ' no url ', 'no url'],
  ['primary_image', LONG, LONG],
  ['location_type', 'somewhere', 'somewhere'],
  ['location_value', 'lat lng', 'lat lng'],
  ['metadata', { a: 'b' }, { a: 'b' }],
  ['ciphertext', 'AAAA', 'AAAA'],
  ['unknown', [1], undefined],
  ['ended_at', 1, undefined],
  ['event_id', 5, undefined],
]

test('each field of a thing is kept on every route', (t) => {
  for (const action of ACTIONS) {
    for (const [field, sent, expected] of kept) {
      const { patch } = submissionOf(action, { [field]: sent })
      t.is(JSON.stringify(patch.fields[field]), JSON.stringify(expected), `${action} ${field}`)
    }
  }
})

const TYPE = 'invalid_json_data'
const INVALID = 'validation_failed'

// On all four routes: field, value sent, code.
const refused: readonly (readonly [field: string, sent: unknown, code: string])[] = [
  ['op_id', 'a', 'op_id_not_allowed'],
  ['op_id', {}, 'op_id_not_allowed'],
  ['state', 'active', 'state_forbidden'],
  ['state', '', 'state_forbidden'],
  ['channel_id', undefined, 'channel_id_required'],
  ['channel_id', 'x', 'invalid_channel_id'],
  ['password', undefined, 'password_required'],
  ['password', 'x', 'invalid_password'],
  ['observed_at', undefined, 'observed_at_required'],
  ['observed_at', null, 'observed_at_required'],
  ['observed_at', '', 'observed_at_required'],
  ['observed_at', '1e3', 'invalid_timestamp'],
  ['observed_at', 253_402_300_800, 'invalid_timestamp'],
  ['observed_at', [], TYPE],
  ['title', 5, TYPE],
  ['description', false, TYPE],
  ['tags', 'a,b', TYPE],
  ['images', [5], TYPE],
  ['primary_image', {}, TYPE],
  ['location_type', 1, TYPE],
  ['location_value', [1, 2], TYPE],
  ['location_value', '\udc00', INVALID],
  ['external_ids', [], TYPE],
  ['external_ids', 'a', TYPE],
  ['external_ids', { a: [Infinity] }, INVALID],
  ['external_ids', { a: { b: NaN } }, INVALID],
  ['external_ids', nested(TREE_DEPTH_MAX + 1), INVALID],
  ['external_ids', { a: '\ud800' }, INVALID],
  ['external_ids', { '\ud800': 'a' }, INVALID],
  ['attrs', 'a', TYPE],
  ['attrs', [1], TYPE],
  ['attrs', { a: [Infinity] }, INVALID],
  ['attrs', { a: [NaN] }, INVALID],
  ['attrs', { a: { '\0': 1 } }, INVALID],
  ['attrs', nested(TREE_DEPTH_MAX + 1), INVALID],
  ['metadata', { a: {} }, TYPE],
  ['metadata', { [bytesOfText(65)]: 1 }, INVALID],
  ['ciphertext', 5, TYPE],
]

test('each field of a thing is refused outside its rule on every route', (t) => {
  for (const action of ACTIONS) {
    for (const [field, sent, code] of refused) {
      t.is(refusalOf(action, { [field]: sent }), `${code} ${field}`, `${action} ${String(sent)}`)
    }
  }
})

// Route, member and value, and the code, or what is kept of it.
const ofRoutes: readonly (readonly [ThingAction, string, unknown, unknown])[] = [
  ['create', 'thing_id', 't', 'thing_id_forbidden_on_create'],
  ['create', 'thing_id', 5, 'thing_id_forbidden_on_create'],
  ['create', 'thing_id', null, undefined],
  ['create', 'created_at', '1', 1_000],
  ['create', 'created_at', 'x', 'invalid_timestamp'],
  ['create', 'created_at', undefined, undefined],
  ['update', 'created_at', 1, undefined],
  ['archive', 'created_at', 'x', undefined],
  ['delete', 'created_at', {}, undefined],
  ['create', 'deleted_at', 1, 'deleted_at_forbidden'],
  ['update', 'deleted_at', 'x', 'deleted_at_forbidden'],
  ['archive', 'deleted_at', '', 'deleted_at_forbidden'],
  ['archive', 'deleted_at', null, undefined],
  ['delete', 'deleted_at', 1, 1_000],
  ['delete', 'deleted_at', -1, 'invalid_timestamp'],
  ['delete', 'deleted_at', undefined, undefined],
  ['update', 'thing_id', undefined, 'thing_id_required'],
  ['archive', 'thing_id', null, 'thing_id_required'],
  ['delete', 'thing_id', ' ', 'thing_id_required'],
  ['update', 'thing_id', 'x'.repeat(65), INVALID],
  ['archive', 'thing_id', 'a/b', INVALID],
  ['delete', 'thing_id', 5, TYPE],
]

test('a member of one route is refused or ignored on the others', (t) => {
  for (const [action, field, sent, expected] of ofRoutes) {
    const answer = read(action, { [field]: sent })
    const got: unknown = isFault(answer) ? answer.code : answer.submission.patch.fields[field]
    t.is(got, expected, `${action} ${field} ${JSON.stringify(sent)}`)
  }
})

test('attrs and external_ids keep their nulls, and any JSON may be a value of theirs', (t) => {
  const attrs = { a: null, b: { c: [1, null, 'x'] }, '': true, c: '', kind: 'fault' }
  const external_ids = { 'Any Key!': ' kept as it is ', gone: null, empty: '', ...attrs, n: 5 }
  const { patch } = submissionOf('update', { attrs, external_ids })
  t.is(JSON.stringify(patch.attrs), JSON.stringify(attrs))
  t.is(JSON.stringify(patch.externalIds), JSON.stringify(external_ids))
  const deepest = nested(TREE_DEPTH_MAX)
  t.like(submissionOf('update', { attrs: deepest, external_ids: deepest }), { model: 'thing' })
})

// A row: members of the body beside those that every route needs, and the outcome of the request.
const wholeNumbers: readonly (readonly [more: string, outcome: string])[] = [
  ['"attrs":{"a":9007199254740992}', 'accepted'],
  ['"attrs":{"a":9007199254740993}', 'validation_failed attrs'],
  ['"attrs":{"a":[{"b":[-12345678901234567890]}]}', 'validation_failed attrs'],
  ['"external_ids":{"a":{"b":9007199254740993}}', 'validation_failed external_ids'],
  ['"metadata":{"a":9007199254740993}', 'validation_failed metadata'],
  ['"attrs":{"a":"9007199254740993"}', 'accepted'],
  ['"attrs":{"9007199254740993":1}', 'accepted'],
  ['"unknown":9007199254740993', 'accepted'],
  ['"title":9007199254740993', 'invalid_json_data title'],
  ['"state":9007199254740993', 'state_forbidden state'],
]

test('exact-json/1: a whole number that a double cannot hold is refused where it would be kept', (t) => {
  const common = JSON.stringify(bodyFor('update')).slice(1)
  for (const [more, outcome] of wholeNumbers) {
    const body = readJson(new TextEncoder().encode(`{${more},${common}`))
    const answer = readThing('update', body, making())
    t.is(isFault(answer) ? `${answer.code} ${answer.field ?? ''}` : 'accepted', outcome, more)
  }
})

test('fields/2: prototype keys of attrs and external_ids are plain data', (t) => {
  const text = '{"__proto__":{"polluted":true},"constructor":null,"prototype":"c"}'
  const more = `"attrs":${text},"external_ids":${text.replace('{"polluted":true}', '"a"')}`
  const common = JSON.stringify(bodyFor('update')).slice(1)
  const answer = readThing('update', JSON.parse(`{${more},${common}`), making())
  if (isFault(answer)) return t.fail(answer.code)
  const { attrs, externalIds } = answer.submission.patch
  t.is(JSON.stringify(attrs), text)
  t.is(JSON.stringify(externalIds), text.replace('{"polluted":true}', '"a"'))
  t.false('toString' in (attrs ?? {}) || 'toString' in (externalIds ?? {}))
  t.false('polluted' in {})
})

test('shape/1: of several refusals the first in the order is given', (t) => {
  const wrong = { op_id: 'a', state: 'x', deleted_at: 1, thing_id: 5, observed_at: null }
  t.is(refusalOf('create', wrong), 'op_id_not_allowed op_id')
  const { op_id: _, ...more } = wrong
  t.is(refusalOf('create', more), 'state_forbidden state')
  const { state: __, ...stateless } = more
  t.is(refusalOf('create', stateless), 'thing_id_forbidden_on_create thing_id')
  t.is(refusalOf('update', stateless), 'deleted_at_forbidden deleted_at')
  t.is(refusalOf('delete', stateless), 'observed_at_required observed_at')
  t.is(refusalOf('delete', { thing_id: 5, title: 5 }), 'invalid_json_data thing_id')
})

test('fields/1: the first wrong field is the one that is named', (t) => {
  const more = { title: '\0', description: '\ud800', attrs: { a: Infinity }, metadata: { a: '' } }
  t.is(refusalOf('update', more), 'validation_failed title')
})

test('a source of ids that gives something else is a defect', (t) => {
  const broken = { nowMs: NOW_MS, newHex32: () => 'not an id' }
  t.throws(() => readThing('create', bodyFor('create'), broken), { instanceOf: TypeError })
})
