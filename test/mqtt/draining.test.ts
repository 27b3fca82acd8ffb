// Goal: a gateway that stops answers the publishes that it took, and takes no other.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { MqttClient } from '#test/support/mqtt-client'
import { attr, publish } from '#test/support/mqtt-play'
import { mqttRig } from '#test/support/mqtt-rig'
import { turn } from '#test/support/until'

/** A client whose first publish waits for the log until `resolve`. */
async function waiting(t: ExecutionContext) {
  const { door, sink } = await mqttRig(t)
  const client = await MqttClient.enter(door)
  const { promise, resolve } = Promise.withResolvers<void>()
  sink.answer = () => promise.then(() => ({ kind: 'accepted' }))
  client.tell(attr(1, 1))
  return { door, sink, client, resolve }
}

test('mqtt-door/4: a drain answers what was taken, then tells every client', async (t) => {
  const { door, client, resolve } = await waiting(t)
  await turn()
  const drained = door.drain()
  const late = await MqttClient.enter(door, {}, { clientId: 'late' })
  t.is((await late.next('connack')).reasonCode, 0x89)
  await turn()
  t.false(client.isClosed)
  resolve()
  await drained
  t.deepEqual(
    client.received.map(({ cmd }) => cmd),
    ['connack', 'puback', 'disconnect'],
  )
  t.true(client.isClosed)
})

test('submissions/1: a publish that comes while the gateway drains is refused, and none before it', async (t) => {
  const { door, sink, client, resolve } = await waiting(t)
  const drained = door.drain()
  client.tell(attr(1, 2), publish(1, 3, { topic: 'elsewhere' }))
  resolve()
  await drained
  t.like(client.of('puback'), [{ messageId: 1 }, { reasonCode: 0x97 }, { reasonCode: 0x90 }])
  t.is(sink.accepted.length, 1)
})
