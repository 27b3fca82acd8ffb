// Goal: what the interoperability suites of MQTT 3.1.1 and 5 look at, with the topics that
// docs/mqtt.md names, and what it says is not offered.
// Method: one gateway; clients of npm at both levels, raw bytes where no client would send them.

import test from 'ava'
import type { IClientOptions } from 'mqtt'
import { generate } from 'mqtt-packet'

import { MQTT_5_ROWS } from '#test/support/mqtt-5-rows'
import { KEPT, PASSWORD, SiteClient, answerTo } from '#test/support/mqtt-site'
import { attr, granted, startMqttSite } from '#test/support/mqtt-site'
import type { Level, MqttRow } from '#test/support/mqtt-site'
import { standing } from '#test/support/standing'
import { until } from '#test/support/until'

/** One gateway serves every row. */
const siteOfAll = standing(startMqttSite)

const BOTH: readonly MqttRow[] = [
  [
    'a publish at each quality of service is delivered, at 1 at most',
    async (t, { id, enter }) => {
      const [from, to] = [await enter(), await enter()]
      t.is(await granted(to, `things/+/attrs/+`, { qos: 2 }), 1)
      const mine = () => to.heard.filter(({ topic }) => topic.startsWith(`things/${id}-q`))
      for (const qos of [0, 1, 2] as const) {
        await from.client.publishAsync(attr(id, `q${qos}`), '7', { qos })
        await until('it is delivered', () => mine().length === qos + 1)
      }
      t.true(mine().every(({ text, packet }) => text === '7' && packet.qos <= 1 && !packet.retain))
    },
  ],
  [
    'the present state comes as retained, and is gone once it is removed',
    async (t, { id, enter, update }) => {
      await update('r', '5')
      const first = await enter()
      await first.client.subscribeAsync(attr(id, 'r'))
      t.deepEqual(await first.hears(1), [`${attr(id, 'r')} 5`])
      t.true(first.heard[0]?.packet.retain)
      await update('r', '')
      await update('s', '6')
      const second = await enter()
      await second.client.subscribeAsync(attr(id, 'r'))
      await second.client.subscribeAsync(attr(id, 's'))
      t.deepEqual(await second.hears(1), [`${attr(id, 's')} 6`])
    },
  ],
  [
    'what a kept session misses comes when it is back, in order',
    async (t, { id, enter }) => {
      const away = await enter({ ...KEPT, clientId: `${id}-away` })
      await away.client.subscribeAsync('messages', { qos: 1 })
      await away.client.endAsync()
      const from = await enter()
      for (const title of ['one', 'two', 'three']) {
        await from.client.publishAsync('messages', `{"title":"${title}"}`, { qos: 1 })
      }
      const back = await enter({ ...KEPT, clientId: `${id}-away` })
      t.true(back.connack?.sessionPresent)
      const titles = (await back.hears(3)).map((line) => /"title":"(\w+)"/.exec(line)?.[1])
      t.deepEqual(titles, ['one', 'two', 'three'])
      await back.client.unsubscribeAsync('messages')
    },
  ],
  [
    'what was not acknowledged comes again',
    async (t, { id, enter }) => {
      const first = await enter({ ...KEPT, clientId: `${id}-again` })
      await first.client.subscribeAsync('messages', { qos: 1 })
      first.holding = true
      await (await enter()).client.publishAsync('messages', '{"title":"again"}', { qos: 1 })
      await first.hears(1)
      await first.breakOff()
      const second = await enter({ ...KEPT, clientId: `${id}-again` })
      t.regex((await second.hears(1))[0] ?? '', /"title":"again"/)
      await second.client.unsubscribeAsync('messages')
    },
  ],
  [
    'a will is published when a connection breaks, and not when it ends',
    async (t, { id, enter }) => {
      const to = await enter()
      await to.client.subscribeAsync([attr(id, 'w1'), attr(id, 'w2')])
      const will = (name: string) => ({
        will: { topic: attr(id, name), payload: Buffer.from('1') },
      })
      await (await enter(will('w1'))).client.endAsync()
      await (await enter(will('w2'))).breakOff()
      t.deepEqual(await to.hears(1), [`${attr(id, 'w2')} 1`])
    },
  ],
  [
    'whoever is silent for one and a half of the keep alive is closed, with the will',
    async (t, { site, level, id, enter }) => {
      const to = await enter()
      await to.client.subscribeAsync(attr(id, 'k'))
      const credentials = {
        username: site.channelId,
        password: Buffer.from(PASSWORD),
      }
      const will = {
        topic: attr(id, 'k'),
        payload: Buffer.from('9'),
        qos: 1,
        retain: false,
      } as const
      const silent = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: level } as const
      const packet = { ...silent, clientId: `${id}-k`, clean: true, keepalive: 1 }
      const answer = await answerTo(site, generate({ ...packet, ...credentials, will }))
      t.is(answer[0], 0x20)
      t.deepEqual(await to.hears(1), [`${attr(id, 'k')} 9`])
    },
  ],
  [
    'filters that overlap deliver once or twice, and no more after they are left',
    async (t, { id, enter, update }) => {
      const to = await enter()
      await to.client.subscribeAsync(['things/+', 'things/#', attr(id, 'o')])
      to.heard.length = 0
      await update('o', '1')
      await until('it is heard', () => to.heard.some(({ topic }) => topic === attr(id, 'o')))
      await to.client.unsubscribeAsync(['things/+', 'things/#'])
      to.heard.length = 0
      await update('p', '1')
      await update('o', '2')
      t.deepEqual(await to.hears(1), [`${attr(id, 'o')} 2`])
    },
  ],
  [
    'a filter that nothing can match, and one with $, is refused; topics of devices are silent',
    async (t, { level, enter }) => {
      const client = await enter()
      const refused = level === 5 ? 0x8f : 0x80
      t.is(await granted(client, 'things/+/attr/+'), refused)
      t.is(await granted(client, '$SYS/#'), refused)
      t.is(await granted(client, 'cmnd/tasmota/#'), 1)
    },
  ],
  [
    'an unsubscription is acknowledged, also of what was not subscribed',
    async (t, { level, id, enter }) => {
      const { client } = await enter()
      await client.subscribeAsync(attr(id, 'u'))
      const codes: unknown[] = []
      client.on('packetreceive', (packet) => {
        if (packet.cmd === 'unsuback') codes.push(...[packet.granted ?? []].flat())
      })
      await client.unsubscribeAsync(attr(id, 'u'))
      await client.unsubscribeAsync(attr(id, 'u'))
      t.deepEqual(codes, level === 5 ? [0, 0x11] : [])
    },
  ],
  [
    'a second CONNECT ends the connection',
    async (t, { site, level, id }) => {
      const who = { username: site.channelId, password: Buffer.from(PASSWORD), clean: true }
      const head = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: level } as const
      const packet = generate({ ...head, ...who, clientId: `${id}-2`, keepalive: 0 })
      const answer = await answerTo(site, Buffer.concat([packet, packet]))
      t.is(answer[0], 0x20)
      const behind = [...answer.subarray(2 + (answer[1] ?? 0))]
      t.deepEqual([behind[0], behind[2]], level === 5 ? [0xe0, 0x82] : [undefined, undefined])
    },
  ],
  [
    'another connection of the same client id ends the first',
    async (t, { level, id, enter }) => {
      const first = await enter({ clientId: `${id}-twice` })
      await enter({ clientId: `${id}-twice` })
      await until('the first is ended', () => !first.client.connected)
      t.is(first.disconnected, level === 5 ? 0x8e : undefined)
    },
  ],
]

const ONLY_311: readonly MqttRow[] = [
  [
    'a kept session without a client id is refused',
    async (t, { site, enter }) => {
      await t.notThrowsAsync(enter({ clientId: '' }))
      const name = Buffer.from(site.channelId)
      const variable = Buffer.from([0, 4, ...Buffer.from('MQTT'), 4, 0x80, 0, 0, 0, 0])
      const rest = Buffer.concat([variable, Buffer.from([0, name.length]), name])
      const answer = await answerTo(site, Buffer.concat([Buffer.from([0x10, rest.length]), rest]))
      t.deepEqual([...answer], [0x20, 2, 0, 2])
    },
  ],
]

const ROWS: readonly (readonly [level: Level, rows: readonly MqttRow[]])[] = [
  [4, [...BOTH, ...ONLY_311]],
  [5, [...BOTH, ...MQTT_5_ROWS]],
]

for (const [level, rows] of ROWS) {
  for (const [at, [name, run]] of rows.entries()) {
    test.serial(`${level === 5 ? 'MQTT 5' : 'MQTT 3.1.1'}: ${name}`, async (t) => {
      const site = await siteOfAll()
      const id = `${level}${at}`
      const enter = (options: IClientOptions = {}): Promise<SiteClient> =>
        SiteClient.enter(site, t, { protocolVersion: level, ...options })
      const update = async (thing: string, value: string): Promise<void> => {
        const client = await enter()
        await client.client.subscribeAsync(attr(id, thing), { qos: 0 })
        const applied = () =>
          client.heard.some(({ text, packet }) => text === value && !packet.retain)
        await client.client.publishAsync(attr(id, thing), value, { qos: 1 })
        await until('it is applied', applied)
        await client.client.endAsync()
      }
      await run(t, { site, level, id, enter, update })
    })
  }
}
