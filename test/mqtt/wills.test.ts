// Goal: a will is published when its client is gone for good, and a key keeps nothing by wills
// that it may not send, beyond its bounds, or after its end.

import test from 'ava'

import type { KeyRights } from '#domain/channel-keys'
import { WILL_BYTES_MAX } from '#src/mqtt/bounds'
import { collect } from '#test/support/heap'
import { CHANNEL, PASSWORD } from '#test/support/making'
import { MqttClient } from '#test/support/mqtt-client'
import { addKey, mqttRig } from '#test/support/mqtt-rig'
import type { MqttRig } from '#test/support/mqtt-rig'
import { turn, until } from '#test/support/until'

const TOPIC = 'things/a/attrs/online'
const DAY_S = 86_400

interface Sent {
  readonly delayS?: number
  readonly expiryS?: number
  readonly clientId?: string
  readonly key?: string
  readonly topic?: string
  readonly payload?: string
  readonly level?: 4 | 5
  readonly channel?: string
}

/** A client with a will. */
function enter({ door }: MqttRig, sent: Sent = {}): Promise<MqttClient> {
  const { delayS = 10, expiryS = DAY_S, level = 5, topic = TOPIC, payload = 'offline' } = sent
  const { clientId = 'client', key, channel = CHANNEL } = sent
  return MqttClient.enter(
    door,
    { level },
    {
      clientId,
      username: channel,
      password: Buffer.from(key ?? PASSWORD),
      clean: true,
      ...(level === 5 && { properties: { sessionExpiryInterval: expiryS } }),
      will: {
        topic,
        payload: Buffer.from(payload),
        ...(level === 5 && { properties: { willDelayInterval: delayS } }),
      },
    },
  )
}

const turns = async (): Promise<void> => {
  for (let at = 0; at < 20; at += 1) await turn()
}

/** A client with a will that has gone without a word. */
async function gone(rig: MqttRig, sent: Sent = {}): Promise<void> {
  const client = await enter(rig, sent)
  client.vanish()
  await turns()
}

const sessionsOf = ({ meter }: MqttRig): number => meter.gauges.get('sessions{mqtt}')?.() ?? -1
const waitingOf = ({ meter }: MqttRig): number => meter.gauges.get('mqtt_wills_waiting')?.() ?? -1
const bytesOf = ({ meter }: MqttRig): number => meter.gauges.get('mqtt_will_bytes')?.() ?? -1

const published = async (rig: MqttRig): Promise<number> => {
  await turns()
  return rig.sink.accepted.length
}

/** Seconds of delay and of session expiry, and those after which the will is published. */
const DELAYS = [
  [10, DAY_S, 10],
  [10, 0, 0],
  [0, DAY_S, 0],
  [DAY_S, 10, 10],
  [0xffffffff, DAY_S, DAY_S],
  [0xffffffff, 0xffffffff, 30 * DAY_S],
] as const

for (const [delayS, expiryS, afterS] of DELAYS) {
  test(`wills/1: a will with a delay of ${delayS} s is published after ${afterS} s of a session of ${expiryS} s`, async (t) => {
    const rig = await mqttRig(t)
    await gone(rig, { delayS, expiryS })
    if (afterS > 0) {
      rig.pass(afterS * 1_000 - 1)
      t.is(await published(rig), 0)
      t.is(waitingOf(rig), 1)
      rig.pass(1)
    }
    await until('the will is there', () => rig.sink.accepted.length === 1)
    t.like(rig.sink.accepted, [{ patch: { attrs: { online: false } } }])
    t.deepEqual([waitingOf(rig), bytesOf(rig)], [0, 0])
  })
}

test('wills/1: the session ends when the client said so last', async (t) => {
  const rig = await mqttRig(t)
  const client = await enter(rig, { delayS: DAY_S })
  client.tell({ cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 5 } })
  client.vanish()
  await turns()
  rig.pass(4_999)
  t.is(await published(rig), 0)
  rig.pass(1)
  t.is(await published(rig), 1)
})

test('mqtt-door/3: a client that is back in time, or has left in peace, has no will', async (t) => {
  const rig = await mqttRig(t)
  await gone(rig)
  rig.pass(9_999)
  const back = await enter(rig)
  t.is(waitingOf(rig), 0)
  rig.pass(20_000)
  back.tell({ cmd: 'disconnect', reasonCode: 0 })
  rig.pass(20_000)
  t.is(await published(rig), 0)
})

for (const delayS of [0, 10]) {
  test(`mqtt-door/3: a client that another node has taken over has no will after ${delayS} s`, async (t) => {
    const rig = await mqttRig(t)
    const here = await enter(rig, { delayS })
    rig.pass(5)
    await enter({ ...rig, door: rig.another() }, { delayS })
    await until('it is told', () => here.isClosed)
    rig.pass(20_000)
    t.is(await published(rig), 0)
  })
}

/** Rights of a key, its will, and whether it may send that. */
const WISHED: readonly (readonly [
  rights: Partial<KeyRights>,
  topic: string,
  isAllowed: boolean,
])[] = [
  [{}, TOPIC, true],
  [{}, 'elsewhere', true],
  [{ scopes: ['send'] }, TOPIC, true],
  [{ scopes: ['read'] }, TOPIC, false],
  [{ scopes: ['read'] }, 'elsewhere', false],
  [{ scopes: ['send'], thingPrefix: 'a' }, TOPIC, true],
  [{ scopes: ['send'], thingPrefix: 'b' }, TOPIC, false],
  [{ scopes: ['send'], thingPrefix: 'a' }, 'messages', false],
  [{ scopes: ['send'], thingPrefix: 'a' }, 'elsewhere', true],
]

for (const [rights, topic, isAllowed] of WISHED) {
  const name = `mqtt-entrance/2: a key with ${JSON.stringify(rights)} ${isAllowed ? 'enters' : 'does not enter'} with a will to ${topic}`
  test(name, async (t) => {
    const rig = await mqttRig(t, { passwordBudget: { perAddress: 3, total: 100 } })
    const key = await addKey(rig, rights)
    const five = await enter(rig, { key, topic })
    const connack = (await five.next('connack')) as {
      readonly reasonCode?: number
      readonly properties?: { readonly reasonString?: string }
    }
    t.is(connack.reasonCode, isAllowed ? 0 : 0x87)
    t.is(five.isClosed, !isAllowed)
    if (!isAllowed) t.regex(connack.properties?.reasonString ?? '', /the key (lacks|is for)/)
    const four = await enter(rig, { key, topic, level: 4 })
    t.is((await four.next('connack')).returnCode, isAllowed ? 0 : 5)
    t.is(rig.meter.total('refused_total{key_scope}'), isAllowed ? 0 : 2)
    five.vanish()
    four.vanish()
    t.is(await published(rig), isAllowed && topic !== 'elsewhere' ? 1 : 0)
  })
}

for (const [more, code] of [
  [0, 0],
  [1, 0x95],
] as const) {
  test(`a will of ${more} bytes beyond the bound: ${code}`, async (t) => {
    const rig = await mqttRig(t)
    const payload = 'x'.repeat(WILL_BYTES_MAX - TOPIC.length + more)
    const client = await enter(rig, { payload })
    t.is((await client.next('connack')).reasonCode, code)
    t.is(client.isClosed, code > 0)
  })
}

test('wills/2: a will that waits keeps nothing else of its connection', async (t) => {
  const rig = await mqttRig(t)
  const connection = new WeakRef(await enter(rig))
  connection.deref()?.vanish()
  await turns()
  t.is(waitingOf(rig), 1)
  await until('it is gone', () => {
    collect()
    return connection.deref() === undefined
  })
  rig.pass(10_000)
  t.is(await published(rig), 1)
})

/** What happens to a channel, and whether the will of a key or of the password is sent after it. */
const CHANGES: readonly (readonly [
  name: string,
  change: (rig: MqttRig) => unknown,
  byKey: boolean,
  byOther: boolean,
  byPassword: boolean,
])[] = [
  ['nothing changes', () => undefined, true, true, true],
  ['a key is revoked', (rig) => revoked(rig, true), false, true, true],
  ['a key is revoked, and the notice is lost', (rig) => revoked(rig, false), false, true, true],
  ['the channel has another password', (rig) => anotherPassword(rig), false, false, false],
  ['the channel is deleted', (rig) => deleted(rig), false, false, false],
]

async function revoked(
  { bus, channelKeys, channelId, acceptance, door }: MqttRig,
  isTold: boolean,
) {
  await channelKeys.revoke(channelId, '1')
  if (isTold) return bus.notify({ kind: 'credentials-changed', channelId, keyId: '1' })
  acceptance.recheck()
  door.recheck()
}

/** The hash of another password. */
const OTHER_HASH =
  'scrypt-hmac$16384$8$1$AQIDBAUGBwgJCgsMDQ4PEA$AQIDBAUGBwgJCgsMDQ4PEA$' +
  'AL8HEqz-auNELPeGx7gpkhw7aQqf2oyG9OVSU6PL8Ik'

function anotherPassword({ bus, channels, channelId }: MqttRig): void {
  const row = channels.rows.get(channelId)
  channels.rows.set(channelId, { ...row, passwordHash: OTHER_HASH } as never)
  bus.notify({ kind: 'credentials-changed', channelId })
}

function deleted({ bus, channels, channelId }: MqttRig): void {
  channels.rows.delete(channelId)
  bus.notify({ kind: 'channel-deleted', channelId })
}

for (const [name, change, ...isSent] of CHANGES) {
  for (const isConnected of [false, true]) {
    const when = isConnected ? 'while their clients are connected' : 'while they wait'
    test(`wills/3: ${name} ${when}: ${isSent.join(', ')} of three wills are left`, async (t) => {
      const rig = await mqttRig(t)
      const keys = [await addKey(rig), await addKey(rig)]
      const clients = [
        await enter(rig, { clientId: 'one', key: keys[0] ?? '', delayS: 60 }),
        await enter(rig, { clientId: 'other', key: keys[1] ?? '', delayS: 60 }),
        await enter(rig, { clientId: 'by password', delayS: 60 }),
      ]
      if (!isConnected) for (const client of clients) client.vanish()
      await turns()
      await change(rig)
      rig.pass(2_000)
      await turns()
      const left = isSent.filter((is) => is).length
      // A password is computed anew before it is known to be another.
      if (isConnected) await until('the others have ended', () => sessionsOf(rig) === left)
      for (const client of clients) client.vanish()
      await until('the others are dropped', () => waitingOf(rig) === left)
      rig.pass(60_000)
      t.is(await published(rig), left)
      t.is(rig.meter.total('refused_total{channel_not_found}'), 0)
    })
  }
}
