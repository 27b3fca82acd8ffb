// Goal: a client with a kept session that was away comes back to the state of what changed, not to
// every change. RUNS sets how often each Thing changed meanwhile: 1,000 makes a million updates.

import test from 'ava'

import type { Packet, PublishPacket } from '#src/mqtt/codec'
import { MqttClient } from '#test/support/mqtt-client'
import { mqttRig } from '#test/support/mqtt-rig'
import { openTestStore } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { message, thing } from '#test/support/submissions'
import { rounds, turn } from '#test/support/until'

const RUNS = Number(process.env['RUNS'] ?? 4)
const THINGS = 1_000

test('a week of updates of a thousand Things comes back as a thousand messages', async (t) => {
  t.timeout(1_200_000)
  const rig = await mqttRig(t)
  const store = await openTestStore(t)
  const { channels, subscriptions, devices, mqttSessions, read } = store
  const writer = await ChannelWriter.open(store, 1)
  const stores = { channels, subscriptions, devices, mqttSessions, read }
  // The store has another channel than the rig: the door sees it under the name of the rig's.
  const { access } = rig.acceptance
  const enter: typeof access.enter = async () => ({ channelId: writer.channelId })
  const refusalSince: typeof access.refusalSince = async () => undefined
  const acceptance = { ...rig.acceptance, access: Object.assign(access, { enter, refusalSince }) }
  const door = rig.another({ ...stores, acceptance })
  const visit = (): Promise<MqttClient> => MqttClient.enter(door, { level: 4 }, { clean: false })

  const client = await visit()
  const topics = ['things/+', 'messages'].map((topic) => ({ topic, qos: 1 as const }))
  const subscribe = { cmd: 'subscribe', messageId: 1, subscriptions: topics } as const
  client.tell(subscribe)
  await client.next('suback')
  client.vanish()
  for (let round = 1; round <= RUNS; round += 1) {
    for (let at = 0; at < THINGS; at += 1) {
      writer.take(thing('update', `t-${at}`, { attrs: { round } }))
    }
    await writer.take(message({ fields: { body: `round ${round}` } })).commit()
  }
  const back = await visit()
  back.tell(subscribe) // Most clients subscribe again.
  const heard: Packet[] = []
  const goOn = rounds(100_000)
  while (heard.length < THINGS + RUNS && goOn()) {
    await turn()
    const fresh = (back.of('publish') as readonly PublishPacket[])
      .filter(({ retain }) => !retain)
      .slice(heard.length)
    heard.push(...fresh)
    back.tell(...fresh.map(({ messageId = 0 }): Packet => ({ cmd: 'puback', messageId })))
  }
  for (let turns = 0; turns < 50; turns += 1) await turn()
  t.is(heard.length, THINGS + RUNS)
  const things = (heard as readonly PublishPacket[]).filter(({ topic }) => topic !== 'messages')
  t.is(new Set(things.map(({ topic }) => topic)).size, THINGS)
  t.true(things.every(({ payload }) => payload.toString().includes(`"round":${RUNS}`)))
})
