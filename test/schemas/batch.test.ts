// Goal: what the log gives back is what was accepted, or is set aside item by item.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { Submission } from '#domain/submission'
import { decodeBatch, encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { readAcknowledge, readEvent } from '#src/schemas/event'
import { readMessage, TTL_MAX_MS } from '#src/schemas/message'
import { readThing } from '#src/schemas/thing'
import { CREDENTIALS, making, NOW_MS } from '#test/support/making'
import { cancellation, message as sentMessage } from '#test/support/submissions'

const TIMES = { event_time: 1, observed_at: 1 }
const PROTOTYPE_KEYS: unknown = JSON.parse('{"__proto__":"a","constructor":"b","prototype":"c"}')

function submissions(): readonly Submission[] {
  const message = { ...CREDENTIALS, title: '🌍', metadata: PROTOTYPE_KEYS }
  const patch = { ...CREDENTIALS, ...TIMES, attrs: PROTOTYPE_KEYS }
  const reads = [
    readMessage(message, making()),
    readMessage({ ...message, op_id: 'o', ttl: NOW_MS + TTL_MAX_MS + 1 }, making()),
    readEvent('create', { ...patch, tags: ['a'], metadata: PROTOTYPE_KEYS }, making()),
    readEvent('update', { ...patch, event_id: 'e', thing_id: 't' }, making()),
    readEvent('close', { ...patch, event_id: 'e', ended_at: 1 }, making()),
    readThing('create', { ...patch, external_ids: PROTOTYPE_KEYS }, making()),
    readThing('update', { ...CREDENTIALS, thing_id: 't', observed_at: 1 }, making()),
    readThing('archive', { ...patch, thing_id: 't' }, making()),
    readThing('delete', { ...patch, thing_id: 't' }, making()),
    readMessage({ ...message, delay: '1h' }, making()),
    readAcknowledge({ ...patch, event_id: 'e' }, making()),
    readAcknowledge({ ...patch, event_id: 'e', by: 'b', note: 'ä', snooze: '1h' }, making()),
  ]
  return reads.map((read) => {
    if (isFault(read)) throw new Error(read.code)
    return read.submission
  })
}

test('batch/1: a batch gives back the submissions that were put into it, in order', (t) => {
  const before = submissions()
  const after = decodeBatch(encodeBatch(before.map(encodeSubmission)))
  t.deepEqual(after, before)
  t.is(JSON.stringify(after), JSON.stringify(before))
})

test('batch/1: a cancellation comes back as it was; one without its Message is set aside', (t) => {
  const before = cancellation(sentMessage())
  const { cancels: _, ...broken } = before
  const parts = [encodeSubmission(before), JSON.stringify(broken)]
  const [read, unreadable] = decodeBatch(encodeBatch(parts))
  t.deepEqual(read, before)
  t.is(unreadable?.model, 'unreadable')
})

test('batch/1: a repeat comes back as a repeat', (t) => {
  const [message] = submissions()
  if (message?.model !== 'message') return t.fail()
  const before = [{ ...message, isRepeat: true } as const]
  t.deepEqual(decodeBatch(encodeBatch(before.map(encodeSubmission))), before)
})

test('batch/1: a submission that may repeat another comes back as one', (t) => {
  const before = submissions().map((submission) => ({ ...submission, mayRepeat: true }) as const)
  t.deepEqual(decodeBatch(encodeBatch(before.map(encodeSubmission))), before)
})

test('batch/1, batch/2: a tick comes back as it was; one without a time is set aside', (t) => {
  const tick = { model: 'tick', acceptedAt: 5 } as const
  const parts = [encodeSubmission(tick), '{"model":"tick"}', '{"model":"tick","acceptedAt":0.5}']
  const [read, ...broken] = decodeBatch(encodeBatch(parts))
  t.deepEqual(read, tick)
  t.deepEqual(
    broken.map(({ model }) => model),
    ['unreadable', 'unreadable'],
  )
})

test('an empty batch is empty', (t) => {
  t.deepEqual(decodeBatch(encodeBatch([])), [])
})

test('batch/1: records with keys of the caller come back without a prototype', (t) => {
  const [message, , event, , , thingOf] = decodeBatch(
    encodeBatch(submissions().map(encodeSubmission)),
  )
  if (message?.model !== 'message' || event?.model !== 'event') return t.fail()
  if (thingOf?.model !== 'thing') return t.fail()
  const records = [
    message.fields,
    message.fields['metadata'],
    event.patch.attrs,
    thingOf.patch.externalIds,
  ]
  for (const record of records) {
    t.false('toString' in Object(record))
  }
  t.is(JSON.stringify(event.patch.attrs), JSON.stringify(PROTOTYPE_KEYS))
})

const [good] = submissions().slice(5)
const thing: Record<string, unknown> = JSON.parse(JSON.stringify(good)) as Record<string, unknown>
const message = JSON.parse(JSON.stringify(submissions()[0])) as Record<string, unknown>

const broken: readonly unknown[] = [
  null,
  5,
  'x',
  [],
  {},
  { ...thing, model: 'unreadable' },
  { ...thing, model: undefined },
  { ...thing, action: 'close' },
  { ...thing, action: 'toString' },
  { ...thing, opId: 'a b' },
  { ...thing, opId: 5 },
  { ...thing, channelId: 'x' },
  { ...thing, acceptedAt: '1' },
  { ...thing, acceptedAt: 1.5 },
  { ...thing, entityId: 'a b' },
  { ...thing, entityId: undefined },
  { ...thing, patch: undefined },
  { ...thing, patch: { at: 1 } },
  { ...thing, patch: { at: null, fields: {} } },
  { ...thing, patch: { at: 1, fields: [] } },
  { ...thing, patch: { at: 1, fields: {}, attrs: 5 } },
  { ...thing, patch: { at: 1, fields: {}, externalIds: [] } },
  { ...message, claimed: 'yes' },
  { ...message, fields: null },
  { ...message, entityId: 'not hex' },
]

test('batch/2: an item that is no submission is set aside alone', (t) => {
  for (const item of broken) {
    const whole = encodeBatch([JSON.stringify(thing), JSON.stringify(item), JSON.stringify(thing)])
    const [before, between, after] = decodeBatch(whole)
    t.is(before?.model, 'thing')
    t.like(between, { model: 'unreadable', payload: JSON.stringify(item) }, JSON.stringify(item))
    t.is(after?.model, 'thing')
  }
})

test('batch/2: an item that is nested too deeply to be written does not harm the others', (t) => {
  const deep = '['.repeat(50_000) + ']'.repeat(50_000)
  const models = decodeBatch(encodeBatch([deep, JSON.stringify(thing)])).map(({ model }) => model)
  t.deepEqual(models, ['unreadable', 'thing'])
})

test('batch/2: a text that is no JSON array is one unreadable whole', (t) => {
  for (const payload of ['', '{', '{}', 'null', '[1,', '"[]"', '[{}]x']) {
    t.like(decodeBatch(payload), { length: 1, 0: { model: 'unreadable', payload } }, payload)
  }
})
