import test from 'ava'

import { fault } from '#domain/fault'
import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'

const OP_ID = /^[0-9a-f]{13}-[0-9a-f]{32}$/
const ID = /^[0-9a-f]{32}$/
const EVENT = { ...CREDENTIALS, event_time: NOW_MS }
const THING = { ...CREDENTIALS, observed_at: NOW_MS }

/** A request, and the submission of the named model and action that it becomes. */
type Row = readonly [path: string, body: object, becomes: readonly [string, string], more?: object]

const NAMED_EVENT = { ...EVENT, event_id: 'e-1' }
const NAMED_THING = { ...THING, thing_id: 'pump' }

const rows: readonly Row[] = [
  [
    '/message',
    { ...CREDENTIALS, title: 'x' },
    ['message', 'send'],
    { claimed: false, acceptedAt: NOW_MS },
  ],
  ['/event/create', EVENT, ['event', 'create']],
  ['/event/update', NAMED_EVENT, ['event', 'update']],
  ['/event/close', { ...NAMED_EVENT, ended_at: NOW_MS }, ['event', 'close']],
  [
    '/thing/pump%3A1/event/create',
    EVENT,
    ['event', 'create'],
    { patch: { fields: { thing_id: 'pump:1' } } },
  ],
  [
    '/thing/pump/event/update',
    { ...NAMED_EVENT, thing_id: 'pump' },
    ['event', 'update'],
    { patch: { fields: { thing_id: 'pump' } } },
  ],
  ['/thing/pump/event/close', NAMED_EVENT, ['event', 'close']],
  ['/thing/create', THING, ['thing', 'create']],
  ['/thing/update', NAMED_THING, ['thing', 'update']],
  ['/thing/archive', NAMED_THING, ['thing', 'archive']],
  ['/thing/delete', { ...NAMED_THING, deleted_at: NOW_MS }, ['thing', 'delete']],
]

for (const [path, body, [model, action], more = {}] of rows) {
  const id = `${model}_id`
  test(`POST ${path} answers op_id and ${id} of the submission in the log`, async (t) => {
    const { post, sink, channelId, meter } = await startIngress(t)
    const { status, json, text } = await post(path, body)
    t.is(status, 200, text)
    const [accepted] = sink.accepted
    t.like(accepted, { model, action, channelId, ...more })
    t.deepEqual(json, {
      success: true,
      data: { op_id: accepted?.opId, [id]: accepted?.entityId },
    })
    t.regex(accepted?.opId ?? '', OP_ID)
    const given: unknown = Reflect.get(body, id)
    if (given === undefined) t.regex(accepted?.entityId ?? '', ID)
    else t.is<unknown, unknown>(accepted?.entityId, given)
    t.is(meter.total(`accepted_total{${model}}`), 1)
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
  const latin = await get(`/message?${query.toString().replaceAll('%C3%BC', '%FC')}`)
  t.is(latin.json['error_code'], 'validation_failed')
  t.regex(latin.text, /title must be UTF-8/)
  t.is(latin.status, 400)
  t.is(sink.accepted.length, 1)
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
