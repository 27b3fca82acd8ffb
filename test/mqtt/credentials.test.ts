// Goal: a session lives as long as the credential that made it, whatever is lost on the way, and is
// for that credential alone.

import test from 'ava'

import type { KeyRights } from '#domain/channel-keys'
import { isFault } from '#domain/fault'
import type { ConnectPacket, Packet } from '#src/mqtt/codec'
import { addChannel } from '#test/support/acceptance-rig'
import { CHANNEL, NOW_MS, PASSWORD } from '#test/support/making'
import { MqttClient } from '#test/support/mqtt-client'
import { publish } from '#test/support/mqtt-play'
import { addKey, mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { turn, until } from '#test/support/until'

const LEVELS = [4, 5] as const
const MINUTE = 60_000
const properties = { sessionExpiryInterval: 3_600 }
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 10; turns += 1) await turn()
}
const enter = (
  { door }: Pick<MqttRig, 'door'>,
  secret: string,
  { level = 5, ...more }: Partial<ConnectPacket> & { readonly level?: 4 | 5 } = {},
): Promise<MqttClient> =>
  MqttClient.enter(door, { level }, { password: Buffer.from(secret), keepalive: 0, ...more })
const last = (client: MqttClient): unknown =>
  (client.of('disconnect').at(-1) as { readonly reasonCode?: number } | undefined)?.reasonCode

// What ends a credential, and that nobody is told of it. Each is a way to have gone on for ever.
const ENDS: readonly (readonly [
  string,
  rights: Partial<KeyRights> | undefined,
  end: (rig: MqttRig) => unknown,
])[] = [
  ['a key that expires', { expiresAt: NOW_MS + MINUTE }, () => undefined],
  [
    'a key that expires by a clock that was set forward',
    { expiresAt: NOW_MS + 9 * MINUTE },
    ({ time }) => time.set(8 * MINUTE),
  ],
  ['a revoked key', {}, ({ channelKeys, channelId }) => channelKeys.revoke(channelId, '1')],
  [
    'another password',
    undefined,
    ({ channels }) => addChannel(channels, CHANNEL, 'another password'),
  ],
  ['a deleted channel', undefined, ({ channels, channelId }) => channels.delete(channelId)],
]

for (const [what, rights, end] of ENDS) {
  test(`mqtt-door/2: two minutes after ${what} its sessions are over, though every notice was lost`, async (t) => {
    const rig = await mqttRig(t)
    const secret = rights === undefined ? PASSWORD : await addKey(rig, rights)
    const another = rights === undefined ? PASSWORD : await addKey(rig)
    const clients: MqttClient[] = []
    for (const level of LEVELS) {
      for (const clean of [true, false]) {
        const clientId = `${level} ${clean}`
        const client = await enter(rig, secret, { level, clean, clientId })
        client.tell({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] })
        await client.next('suback')
        clients.push(client)
      }
    }
    const other = await enter(rig, another, { clientId: 'other' })
    await end(rig)
    for (const ms of [MINUTE, 2_000, MINUTE, 2_000]) {
      rig.pass(ms)
      await settled()
    }
    await until('they are over', () => clients.every(({ isClosed }) => isClosed))
    t.deepEqual(clients.map(last), [undefined, undefined, 0x87, 0x87])
    t.is(other.isClosed, rights === undefined)
  })
}

test('mqtt-session/4: a session ends at the time at which its key expires, not before', async (t) => {
  const rig = await mqttRig(t)
  const key = await addKey(rig, { expiresAt: NOW_MS + 5_000 })
  const client = await enter(rig, key)
  const [five, lasting] = [await enter(rig, key, { clientId: 'b' }), await enter(rig, PASSWORD)]
  rig.pass(4_900)
  await settled()
  t.false(client.isClosed)
  rig.pass(200)
  t.is((await client.next('disconnect')).reasonCode, 0x87)
  t.true(five.isClosed)
  t.false(lasting.isClosed)
  t.is(rig.meter.total('sessions_ended_total{mqtt,key_expired}'), 2)
})

test('mqtt-door/2: a store that does not answer ends nobody', async (t) => {
  const rig = await mqttRig(t)
  const clients = [await enter(rig, await addKey(rig)), await enter(rig, PASSWORD)]
  rig.channelKeys.meanwhile = rig.channels.meanwhile = () => {
    throw new Error('the store is away')
  }
  rig.acceptance.recheck()
  rig.bus.notify({ kind: 'credentials-changed', channelId: rig.channelId })
  for (let minutes = 0; minutes < 3; minutes += 1) rig.pass(MINUTE)
  await settled()
  t.true(clients.every(({ isClosed }) => !isClosed))
})

// What ends a credential between its first proof and CONNACK, as the answer to a request.
const proof = { channel_id: CHANNEL, password: PASSWORD }
const MEANWHILE: readonly (readonly [string, (rig: MqttRig) => unknown, isOfPassword?: true])[] = [
  [
    'a revocation',
    async ({ bus, channelKeys, channelId }) => {
      await channelKeys.revoke(channelId, '1')
      bus.notify({ kind: 'credentials-changed', channelId, keyId: '1' })
    },
  ],
  [
    'another password',
    ({ acceptance }) =>
      acceptance.channels.changePassword(
        { ...proof, new_password: 'another password' },
        { receivedAtMs: 0 },
      ),
    true,
  ],
  [
    'a deletion of the channel',
    ({ acceptance }) => acceptance.channels.delete(proof, { receivedAtMs: 0 }),
    true,
  ],
  ['the time at which a key expires', ({ time }) => time.set(MINUTE)],
]

for (const [what, end, isOfPassword = false] of MEANWHILE) {
  test(`mqtt-connection/5: no connection in the middle of CONNECT survives ${what}`, async (t) => {
    const rig = await mqttRig(t)
    const key = await addKey(rig, { expiresAt: NOW_MS + MINUTE })
    const { promise, resolve } = Promise.withResolvers<void>()
    const begin = rig.mqttSessions.enter.bind(rig.mqttSessions)
    let waiting = 0
    rig.mqttSessions.enter = (entry) => {
      waiting += 1
      return promise.then(() => begin(entry))
    }
    const clients: Promise<MqttClient>[] = []
    for (let at = 0; at < 40; at += 1) {
      const level = at % 2 === 0 ? 4 : 5
      const secret = isOfPassword && at % 4 < 2 ? PASSWORD : key
      clients.push(enter(rig, secret, { level, clean: false, clientId: `c-${at}`, properties }))
    }
    await until('all are in the middle', () => waiting === clients.length)
    const ended = await end(rig)
    t.false(isFault(ended))
    resolve()
    for (const client of await Promise.all(clients)) {
      const [answer] = client.of('connack') as readonly {
        returnCode?: number
        reasonCode?: number
      }[]
      t.true((answer?.returnCode ?? answer?.reasonCode ?? 0) > 0)
      t.true(client.isClosed)
    }
    t.is(rig.meter.gauges.get('sessions{mqtt}')?.(), 0)
    await settled()
    const kept = [...rig.mqttSessions.rows.values()]
    const isOver = kept.map(({ expiresAt = Infinity }) => expiresAt <= rig.time.nowMs())
    t.is(isOver.filter((over) => !over).length, isOfPassword ? 20 : 0)
  })
}

// Who has a kept session, and who comes with its client id.
const OWNERS: readonly (readonly [string, owner: 'password' | 'key', other: 'password' | 'key'])[] =
  [
    ['a key and the session of the password', 'password', 'key'],
    ['a key and the session of another key', 'key', 'key'],
    ['the password and the session of a key', 'key', 'password'],
  ]

for (const [what, owner, other] of OWNERS) {
  test(`mqtt-entrance/1: one client id, ${what}: neither knows the other`, async (t) => {
    const rig = await mqttRig(t)
    const secretOf = async (kind: typeof owner): Promise<string> =>
      kind === 'password' ? PASSWORD : addKey(rig, { scopes: ['send', 'read'] })
    const [own, foreign] = [await secretOf(owner), await secretOf(other)]
    const will = {
      topic: 'things/a/attrs/online',
      payload: Buffer.from('offline'),
      properties: { willDelayInterval: 10 },
    }
    const keeping = { clean: false, clientId: 'phone-1', properties }
    const session = () => enter(rig, own, { ...keeping, will })
    const first = await session()
    const topics: Packet = {
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: 'messages', qos: 1 }],
    }
    first.tell(topics)
    await first.next('suback')
    for (const clean of [false, true]) {
      for (const more of [properties, {}]) {
        const stranger = await enter(rig, foreign, { ...keeping, clean, properties: more })
        t.false(first.isClosed, 'it kicks nobody')
        stranger.tell({ cmd: 'disconnect', reasonCode: 0 })
        await settled()
      }
    }
    first.vanish()
    await settled()
    const stranger = await enter(rig, foreign, keeping)
    rig.pass(10_000)
    await until('the will is there', () => rig.sink.accepted.length === 1)
    stranger.tell({ cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 0 } })
    await settled()
    const back = await session()
    t.true((back.of('connack')[0] as { readonly sessionPresent?: boolean }).sessionPresent)
    t.regex([...rig.mqttSessions.rows.values()].map((row) => row.subscriptions).join(), /messages/)
  })
}

// Publishes that acceptance refuses, by keys that may not send them.
const REFUSED: readonly (readonly [string, Partial<KeyRights>, topic: string, payload: string])[] =
  [
    ['a key that may only read', { scopes: ['read'] }, 'messages', 'hello'],
    ['a Thing beyond the prefix', { thingPrefix: 'a-' }, 'things/b/attrs/t', '20'],
    ['a form that is wrong', {}, 'events/e', '{"action":"none"}'],
  ]

for (const [what, rights, topic, payload] of REFUSED) {
  test(`submissions/2: a publish that is refused, for ${what}, leaves nothing with its session`, async (t) => {
    const rig: MqttRig = await mqttRig(t)
    const recorded = countedRecords(rig)
    const client = await enter(rig, await addKey(rig, rights), { clean: false, properties })
    for (let id = 1; id <= 100; id += 1) {
      const qos = id % 2 === 0 ? 1 : 2
      client.tell(publish(qos, id, { topic, payload: Buffer.from(payload) }))
      await client.next(qos === 1 ? 'puback' : 'pubrec', Math.ceil(id / 2))
    }
    t.is(recorded(), 0)
    t.is(rig.sink.accepted.length, 0)
  })
}

test('submissions/3: a key that is revoked while the exchange is kept publishes nothing', async (t) => {
  const rig = await mqttRig(t)
  const client = await enter(rig, await addKey(rig), { clean: false, properties })
  rig.mqttSessions.record = async () => {
    await rig.channelKeys.revoke(rig.channelId, '1')
    rig.bus.notify({ kind: 'credentials-changed', channelId: rig.channelId, keyId: '1' })
    return true
  }
  client.tell(publish(1, 1, { topic: 'messages', payload: Buffer.from('hello') }))
  await until('it is over', () => client.isClosed)
  await settled()
  t.is(rig.sink.accepted.length, 0)
})

function countedRecords({ mqttSessions }: MqttRig): () => number {
  let records = 0
  const record = mqttSessions.record.bind(mqttSessions)
  mqttSessions.record = (...asked) => {
    records += 1
    return record(...asked)
  }
  return () => records
}

for (const door of ['this', 'another'] as const) {
  test(`mqtt-door/5: a subscriber that the owner removes is gone from ${door} node, and comes back as a new one`, async (t) => {
    const rig = await mqttRig(t)
    const at = door === 'this' ? rig : { door: rig.another() }
    const keeping = { clean: false, clientId: 'phone-1', properties }
    const session = () => enter(at, PASSWORD, keeping)
    const [client, other] = [
      await session(),
      await enter(at, PASSWORD, { ...keeping, clientId: 'b' }),
    ]
    for (const one of [client, other]) {
      one.tell({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] })
      await one.next('suback')
    }
    const listed = await rig.acceptance.subscribers.list(proof, { receivedAtMs: 0 })
    if (isFault(listed)) return t.fail()
    const subscriber_id = listed.subscribers[0]?.subscriberId
    await rig.acceptance.subscribers.remove({ ...proof, subscriber_id }, { receivedAtMs: 0 })
    t.is((await client.next('disconnect')).reasonCode, 0x87)
    t.true(client.isClosed)
    t.false(other.isClosed)
    await settled()
    const again = await session()
    t.like(await again.next('connack'), { sessionPresent: false })
  })
}
