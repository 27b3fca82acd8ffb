import test from 'ava'

import { fault } from '#domain/fault'
import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'

const OP_ID = /^[0-9a-f]{13}-[0-9a-f]{32}$/
const ID = /^[0-9a-f]{32}$/
const EVENT = { ...CREDENTIALS, event_time: NOW_MS }
const THING = { ...CREDENTIALS, observed_at: NOW_MS }

interface Row {
  readonly path: string
  readonly body: object
  readonly id: 'message_id' | 'event_id' | 'thing_id'
  readonly expected: object
  readonly idIs?: string
}

const rows: readonly Row[] = [
  {
    path: '/message',
    body: { ...CREDENTIALS, title: 'x' },
    id: 'message_id',
    expected: { model: 'message', action: 'send', claimed: false, acceptedAt: NOW_MS },
  },
  {
    path: '/event/create',
    body: EVENT,
    id: 'event_id',
    expected: { model: 'event', action: 'create' },
  },
  {
    path: '/event/update',
    body: { ...EVENT, event_id: 'e-1' },
    id: 'event_id',
    idIs: 'e-1',
    expected: { model: 'event', action: 'update' },
  },
  {
    path: '/event/close',
    body: { ...EVENT, event_id: 'e-1', ended_at: NOW_MS },
    id: 'event_id',
    idIs: 'e-1',
    expected: { model: 'event', action: 'close' },
  },
  {
    path: '/thing/pump%3A1/event/create',
    body: EVENT,
    id: 'event_id',
    expected: { model: 'event', action: 'create', patch: { fields: { thing_id: 'pump:1' } } },
  },
  {
    path: '/thing/pump/event/update',
    body: { ...EVENT, event_id: 'e-1', thing_id: 'pump' },
    id: 'event_id',
    idIs: 'e-1',
    expected: { model: 'event', action: 'update', patch: { fields: { thing_id: 'pump' } } },
  },
  {
    path: '/thing/pump/event/close',
    body: { ...EVENT, event_id: 'e-1' },
    id: 'event_id',
    idIs: 'e-1',
    expected: { model: 'event', action: 'close' },
  },
  {
    path: '/thing/create',
    body: THING,
    id: 'thing_id',
    expected: { model: 'thing', action: 'create' },
  },
  {
    path: '/thing/update',
    body: { ...THING, thing_id: 'pump' },
    id: 'thing_id',
    idIs: 'pump',
    expected: { model: 'thing', action: 'update' },
  },
  {
    path: '/thing/archive',
    body: { ...THING, thing_id: 'pump' },
    id: 'thing_id',
    idIs: 'pump',
    expected: { model: 'thing', action: 'archive' },
  },
  {
    path: '/thing/delete',
    body: { ...THING, thing_id: 'pump', deleted_at: NOW_MS },
    id: 'thing_id',
    idIs: 'pump',
    expected: { model: 'thing', action: 'delete' },
  },
]

for (const { path, body, id, expected, idIs } of rows) {
  test(`POST ${path} answers op_id and ${id} of the submission in the log`, async (t) => {
    const { post, sink, channelId, meter } = await startIngress(t)
    const { status, json, text } = await post(path, body)
    t.is(status, 200, text)
    const [accepted] = sink.accepted
    t.like(accepted, { ...expected, channelId })
    t.deepEqual(json, {
      success: true,
      data: { op_id: accepted?.opId, [id]: accepted?.entityId },
    })
    t.regex(accepted?.opId ?? '', OP_ID)
    if (idIs === undefined) t.regex(accepted?.entityId ?? '', ID)
    else t.is(String(accepted?.entityId), idIs)
    t.is(meter.total(`accepted_total{${accepted?.model}}`), 1)
    t.is(meter.total('accept_seconds'), 1)
  })
}

test('a thing_id that differs between path and body is refused', async (t) => {
  const { post, sink } = await startIngress(t)
  const answer = await post('/thing/pump/event/create', { ...EVENT, thing_id: 'other' })
  t.is(answer.status, 400)
  t.is(answer.json['error_code'], 'thing_id_mismatch')
  t.is(sink.accepted.length, 0)
})

test('GET /message reads its fields from the query', async (t) => {
  const { get, sink } = await startIngress(t)
  const query = new URLSearchParams({
    ...CREDENTIALS,
    title: 'Grüße',
    tags: 'a,b',
    metadata: '{"k":1}',
  })
  const answer = await get(`/message?${query.toString()}`)
  t.is(answer.status, 200, answer.text)
  t.like(sink.accepted[0], { model: 'message', fields: { title: 'Grüße' } })
})

test('W1: the answer waits for the log, and passes its outcome on', async (t) => {
  const { post, sink } = await startIngress(t)
  const events: string[] = []
  sink.answer = async () => {
    await new Promise<void>((resolve) => setImmediate(resolve))
    events.push('durable')
    return { kind: 'accepted' }
  }
  const answer = await post('/thing/update', { ...THING, thing_id: 'pump' })
  events.push('answered')
  t.is(answer.status, 200)
  t.deepEqual(events, ['durable', 'answered'])

  sink.answer = () => fault('submission_not_accepted', { retryAfterMs: 2_500 })
  const refused = await post('/thing/update', { ...THING, thing_id: 'pump' })
  t.is(refused.status, 503)
  t.is(refused.headers.get('retry-after'), '3')
  t.is(refused.json['error_code'], 'submission_not_accepted')
})

test('credentials that do not match are answered alike, whether the channel exists or not', async (t) => {
  const { post, sink } = await startIngress(t)
  const of = async (change: object): Promise<unknown> => {
    const answer = await post(
      '/thing/update',
      { ...THING, thing_id: 'pump', ...change },
      { 'x-request-id': 'same' },
    )
    return [answer.status, answer.text]
  }
  const wrong = await of({ password: 'wrong password' })
  t.deepEqual(await of({ channel_id: '7ZZZZZZZZZZZZZZZZZZZZZZZZW' }), wrong)
  t.deepEqual(await of({ password: 'wrong password' }), wrong)
  t.like(wrong, [404])
  t.is(sink.accepted.length, 0)
})
