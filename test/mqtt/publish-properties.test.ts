// Goal: what the properties of a publish say is said of its submission.

import test from 'ava'

import { MqttClient } from '#test/support/mqtt-client'
import { attr, publish } from '#test/support/mqtt-play'
import { mqttRig } from '#test/support/mqtt-rig'

test('an op_id of the sender stands for its publish', async (t) => {
  const { door, sink } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  const named = (op_id: string) => ({ properties: { userProperties: { op_id } } })
  client.tell(
    attr(1, 1, named('order-1')),
    publish(1, 2, { topic: 'messages', payload: Buffer.from('hello'), ...named('order-2') }),
    attr(1, 3, named('not an id')),
    attr(1, 4),
  )
  t.is((await client.next('puback', 3)).reasonCode, 0x99)
  await client.next('puback', 4)
  const [first, plain, second] = sink.accepted
  t.like(first, { opId: 'order-1', mayRepeat: true }) // turn-records/4
  t.like(second, { opId: 'order-2', claimed: true })
  t.is(plain?.mayRepeat, undefined)
})

test('the expiry interval of a Message is its ttl, which its own fields can say otherwise', async (t) => {
  const { door, sink } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  const expiring = (messageExpiryInterval: number) => ({ properties: { messageExpiryInterval } })
  const rows: [payload: string, seconds: number, ttlS: number | undefined][] = [
    ['hello', 60, 60],
    ['hello', 0, undefined],
    ['hello', 0xff_ff_ff_ff, 2_592_000],
    ['{"title":"a","ttl":30}', 60, 30],
  ]
  for (const [index, [payload, seconds]] of rows.entries()) {
    const said = { topic: 'messages', payload: Buffer.from(payload), ...expiring(seconds) }
    client.tell(publish(1, index + 1, said))
  }
  client.tell(attr(1, 9, expiring(60)))
  await client.next('puback', 5)
  const ttls = sink.accepted.map((submission) => {
    const ttl = submission.model === 'message' ? submission.fields.ttl : 'no Message'
    return typeof ttl === 'number' ? (ttl - submission.acceptedAt) / 1_000 : ttl
  })
  t.deepEqual(ttls, [...rows.map(([, , ttlS]) => ttlS), 'no Message'])
})

test('the reason of a refused publish is a sentence, also where its fault names a field alone', async (t) => {
  const { door } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  const rows: readonly (readonly [topic: string, payload: string, reason: RegExp])[] = [
    ['messages', '{"title":" "}', /^title must .*: title$/],
    ['messages', '{"title":"a","message_id":"b"}', /^message_id must not .*: message_id$/],
    ['things/a', '{"observed_at":"yesterday"}', /^a time must be .*: observed_at$/],
    ['things/a/attrs', '5', /^payload must be a JSON object$/],
  ]
  for (const [index, [topic, payload, reason]] of rows.entries()) {
    client.tell(publish(1, index + 1, { topic, payload: Buffer.from(payload) }))
    const { properties } = (await client.next('puback', index + 1)) as {
      readonly properties?: { readonly reasonString?: string }
    }
    t.regex(properties?.reasonString ?? '', reason)
  }
})
