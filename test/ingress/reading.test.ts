import test from 'ava'

import type { FeedEntry } from '#domain/feed'
import { parseMessageId, parseOperationId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { CHANNEL, CREDENTIALS, NOW_MS } from '#test/support/making'
import { PUMP } from '#test/support/pump'
import { startIngress } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'

function entry(channelId: ChannelId): FeedEntry {
  const opId = parseOperationId('op-1')
  const entityId = parseMessageId('a'.repeat(32))
  if (opId === undefined || entityId === undefined) throw new Error('bad fixture')
  const name = { channelId, seq: 4, opId, entityId, acceptedAt: NOW_MS }
  return { ...name, model: 'message', action: 'send', payload: '{"title":"x"}' }
}

const dataOf = ({ json }: Answered): unknown => json['data']

async function subscribedDevice(rig: Rig): Promise<string> {
  const answer = await rig.post('/device/register', { platform: 'web' })
  const key = /"device_key":"([0-9a-f]+)"/.exec(answer.text)?.[1] ?? ''
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key: key })
  return key
}

const PATHS = [
  '/thing/get',
  '/thing/list',
  '/thing/series',
  '/event/get',
  '/event/list',
  '/channel/history',
]
const IDS = { thing_id: 'pump', event_id: 'e', from: 1 }

for (const path of PATHS) {
  test(`${path} is for callers with the password and subscribed devices only`, async (t) => {
    const rig = await startIngress(t)
    rig.reads.keptThings = [PUMP]
    rig.reads.keptEvents = [{ ...PUMP, id: 'e', state: 'open' }]
    const device_key = await subscribedDevice(rig)
    const as = async (reader: object): Promise<number> =>
      (await rig.post(path, { channel_id: CHANNEL, ...IDS, ...reader })).status
    t.is(await as({ password: CREDENTIALS.password }), 200)
    t.is(await as({ device_key }), 200)
    t.is(await as({ password: 'wrong password' }), 404)
    t.is(await as({ device_key: 'e'.repeat(32) }), 404)
    await rig.post('/channel/unsubscribe', { channel_id: CHANNEL, device_key })
    t.is(await as({ device_key }), 404)
  })
}

test('a thing is given as it is, and a missing one is refused with entity_not_found', async (t) => {
  const rig = await startIngress(t)
  rig.reads.keptThings = [PUMP]
  const found = await rig.post('/thing/get', { ...CREDENTIALS, thing_id: 'pump' })
  t.like(dataOf(found), { thing_id: 'pump', state: 'active', rev: 3, attrs: { rpm: 900 } })
  const missing = await rig.post('/thing/get', { ...CREDENTIALS, thing_id: 'other' })
  t.is(missing.status, 404)
  t.is(missing.json['error_code'], 'entity_not_found')
})

test('a page names the next one, whose cursor leads on', async (t) => {
  const rig = await startIngress(t)
  rig.reads.keptThings = [PUMP]
  rig.reads.next = 9
  const page = await rig.post('/thing/list', { ...CREDENTIALS, state: 'active', limit: 1 })
  const cursor = /"next_cursor":"([^"]+)"/.exec(page.text)?.[1]
  t.like(dataOf(page), { items: [{ thing_id: 'pump' }] })
  rig.reads.next = undefined
  const last = await rig.post('/thing/list', { ...CREDENTIALS, cursor })
  t.false(last.text.includes('next_cursor'))
  t.like(rig.reads.queries, [
    { channelId: rig.channelId, state: 'active', limit: 1 },
    { channelId: rig.channelId, before: 9 },
  ])
  const bad = await rig.post('/thing/list', { ...CREDENTIALS, cursor: 'made up' })
  t.is(bad.json['error_code'], 'invalid_cursor')
})

test('history gives feed entries', async (t) => {
  const rig = await startIngress(t)
  rig.reads.entries = [entry(rig.channelId)]
  const answer = await rig.post('/channel/history', { ...CREDENTIALS, model: 'message' })
  t.like(dataOf(answer), { items: [{ seq: 4, op_id: 'op-1', payload: { title: 'x' } }] })
  t.like(rig.reads.queries, [{ models: ['message'] }])
})

test('a pulled entry can be acknowledged by its delivery_id', async (t) => {
  const rig = await startIngress(t)
  const device_key = await subscribedDevice(rig)
  rig.reads.entries = [entry(rig.channelId)]
  const pulled = await rig.post('/messages/pull', { device_key })
  t.like(dataOf(pulled), { has_more: false, items: [{ channel_id: CHANNEL, seq: 4 }] })
  const deliveryId = /"delivery_id":"([^"]+)"/.exec(pulled.text)?.[1]
  const acknowledged = await rig.post('/messages/ack', { device_key, delivery_ids: [deliveryId] })
  t.deepEqual(dataOf(acknowledged), { requested_count: 1, removed_count: 1 })
  t.deepEqual(rig.subscriptions.acknowledged, [{ channelId: rig.channelId, seq: 4 }])
  t.deepEqual(rig.devices.seenIds, [...rig.devices.rows.keys()])
})
