// What MQTT 5 has beyond 3.1.1, as rows of test/stories/mqtt-conformance.test.ts.

import type { IClientOptions } from 'mqtt'

import { KEPT, PASSWORD, RawClient, attr, granted } from '#test/support/mqtt-site'
import type { MqttRow, SiteClient } from '#test/support/mqtt-site'
import { until } from '#test/support/until'

export const MQTT_5_ROWS: readonly MqttRow[] = [
  [
    'a session lasts as its expiry says, and DISCONNECT may say otherwise',
    async (t, { id, enter }) => {
      const back = async (properties: object): Promise<SiteClient> =>
        enter({ clean: false, clientId: `${id}-e`, properties })
      await (await back({ sessionExpiryInterval: 0 })).client.endAsync()
      const kept = await back({ sessionExpiryInterval: 600 })
      t.false(kept.connack?.sessionPresent)
      await kept.client.endAsync()
      const again = await back({ sessionExpiryInterval: 600 })
      t.true(again.connack?.sessionPresent)
      await again.client.endAsync(false, { properties: { sessionExpiryInterval: 0 } })
      t.false((await back({ sessionExpiryInterval: 0 })).connack?.sessionPresent)
    },
  ],
  [
    'CONNACK says what is offered, and names a client that has no name',
    async (t, { enter }) => {
      const { connack } = await enter({ clientId: '' })
      t.like(connack?.properties, {
        maximumQoS: undefined,
        sharedSubscriptionAvailable: false,
        topicAliasMaximum: 32,
        receiveMaximum: 64,
        maximumPacketSize: 262_144,
        // The keep alive is that which the client asks for.
        serverKeepAlive: undefined,
      })
      t.regex(connack?.properties?.assignedClientIdentifier ?? '', /./)
      t.is(await granted(await enter(), '$share/a/messages'), 0x9e)
    },
  ],
  [
    'a subscriber gets the identifiers of its subscriptions',
    async (t, { id, enter, update }) => {
      const to = await enter()
      await to.client.subscribeAsync(attr(id, 'i'), {
        qos: 0,
        properties: { subscriptionIdentifier: 7 },
      })
      await update('i', '1')
      await to.hears(1)
      t.is(to.heard[0]?.packet.properties?.subscriptionIdentifier, 7)
      const properties = { subscriptionIdentifier: 8 }
      await to.client.subscribeAsync('things/+/attrs/n', { qos: 0, rh: 2, properties })
      to.heard.length = 0
      await update('i', '2')
      const identifiers = () =>
        to.heard.flatMap(({ packet }) => packet.properties?.subscriptionIdentifier ?? [])
      await until('both are named', () => identifiers().length >= 2)
      t.deepEqual(
        identifiers().toSorted((a, b) => a - b),
        [7, 8],
      )
    },
  ],
  [
    'a retained publish is one like any other: what is live has no retain flag',
    async (t, { id, enter }) => {
      const to = await enter()
      await to.client.subscribeAsync(attr(id, 't'), { qos: 1, rap: true })
      const from = await enter()
      await from.client.publishAsync(attr(id, 't'), '1', { qos: 1, retain: true })
      await to.hears(1)
      t.false(to.heard[0]?.packet.retain)
      const later = await enter()
      await later.client.subscribeAsync(attr(id, 't'))
      await later.hears(1)
      t.true(later.heard[0]?.packet.retain)
    },
  ],
  [
    'a packet that is larger than the gateway takes ends the connection',
    async (t, { enter }) => {
      const from = await enter()
      from.client.publish('messages', 'a'.repeat(262_144), { qos: 0 })
      await until('it is ended', () => !from.client.connected)
      t.is(from.disconnected, 0x95)
    },
  ],
  [
    'retain handling sends the present state always, once or never',
    async (t, { id, enter, update }) => {
      await update('h', '1')
      await update('marker', '1')
      const to = await enter()
      for (const [rh, count] of [
        [2, 0],
        [1, 0],
        [0, 1],
      ] as const) {
        to.heard.length = 0
        await to.client.subscribeAsync(attr(id, 'h'), { qos: 1, rh })
        await to.client.unsubscribeAsync(attr(id, 'marker'))
        await to.client.subscribeAsync(attr(id, 'marker'))
        await to.hears(count + 1)
        t.is(to.heard.filter(({ topic }) => topic === attr(id, 'h')).length, count, `${rh}`)
      }
    },
  ],
  [
    'a client with no-local does not hear itself',
    async (t, { id, enter, update }) => {
      const to = await enter()
      await to.client.subscribeAsync([attr(id, 'mine'), attr(id, 'yours')], { qos: 0, nl: true })
      await to.client.publishAsync(attr(id, 'mine'), '1', { qos: 1 })
      await update('yours', '1')
      t.deepEqual(await to.hears(1), [`${attr(id, 'yours')} 1`])
    },
  ],
  [
    'topic aliases stand for topics in both directions',
    async (t, { id, enter, update }) => {
      const to = await enter({ properties: { topicAliasMaximum: 10 } })
      await to.client.subscribeAsync(attr(id, 'a'))
      const from = await enter({ autoAssignTopicAlias: true })
      await from.client.publishAsync(attr(id, 'a'), '1', { qos: 1 })
      await to.hears(1)
      await from.client.publishAsync(attr(id, 'a'), '2', { qos: 1 })
      await to.hears(2)
      await update('a', '3')
      t.deepEqual(
        await to.hears(3),
        ['1', '2', '3'].map((text) => `${attr(id, 'a')} ${text}`),
      )
      t.is(to.heard[0]?.packet.properties?.topicAlias, 1)
    },
  ],
  [
    'no more than the Receive Maximum is on its way',
    async (t, { site, id, enter }) => {
      const to = new RawClient(t, site, 5)
      const who = { username: site.channelId, password: Buffer.from(PASSWORD), clean: true }
      const head = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5 } as const
      to.send({ ...head, ...who, clientId: id, keepalive: 0, properties: { receiveMaximum: 2 } })
      to.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'messages', qos: 1 }] })
      await to.gets('suback', 1)
      const from = await enter()
      for (const title of ['1', '2', '3', '4']) {
        await from.client.publishAsync('messages', `{"title":"${title}"}`, { qos: 1 })
      }
      const sent = await to.gets('publish', 2)
      // Its answer comes behind what the gateway might have sent.
      to.send({ cmd: 'pingreq' })
      await to.gets('pingresp', 1)
      t.is((await to.gets('publish', 2)).length, 2)
      for (const { messageId = 0 } of sent) to.send({ cmd: 'puback', messageId })
      t.is((await to.gets('publish', 4)).length, 4)
    },
  ],
  [
    'a client that sends more than the Receive Maximum of the gateway is ended',
    async (t, { site, id }) => {
      const from = new RawClient(t, site, 5)
      const who = { username: site.channelId, password: Buffer.from(PASSWORD), clean: true }
      const head = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 5 } as const
      from.send({ ...head, ...who, clientId: `${id}-r`, keepalive: 0 })
      await from.gets('connack', 1)
      for (let messageId = 1; messageId <= 65; messageId += 1) {
        // It releases none.
        const exactly = { qos: 2, dup: false, retain: false, messageId } as const
        from.send({ cmd: 'publish', topic: attr(id, 'x'), payload: '1', ...exactly })
      }
      t.like((await from.gets('disconnect', 1))[0], { reasonCode: 0x93 })
    },
  ],
  [
    'what is larger than the client takes is left out',
    async (t, { id, enter, update }) => {
      const to = await enter({ properties: { maximumPacketSize: 64 } })
      await to.client.subscribeAsync([attr(id, 'm'), attr(id, 'l')])
      await update('l', 'a'.repeat(100))
      await update('m', '1')
      t.deepEqual(await to.hears(1), [`${attr(id, 'm')} 1`])
    },
  ],
  [
    'a Message past its expiry is not delivered, and properties are not forwarded, as documents say',
    async (t, { id, enter }) => {
      const away = await enter({ ...KEPT, clientId: `${id}-x` })
      await away.client.subscribeAsync('messages', { qos: 1 })
      await away.client.endAsync()
      const from = await enter()
      const short = { messageExpiryInterval: 1 }
      await from.client.publishAsync('messages', 'short', { qos: 1, properties: short })
      const over = Date.now() + 1_100
      const more = {
        contentType: 'text/plain',
        payloadFormatIndicator: true,
        userProperties: { a: 'b' },
        responseTopic: 'c',
        correlationData: Buffer.from('d'),
      }
      await from.client.publishAsync('messages', 'long', { qos: 1, properties: more })
      await until('the first is over', () => Date.now() > over)
      const back = await enter({ ...KEPT, clientId: `${id}-x` })
      const [first = ''] = await back.hears(1)
      t.regex(first, /"(title|body)":"long"/)
      const properties = back.heard[0]?.packet.properties ?? {}
      t.deepEqual(
        Object.keys(properties).filter((name) => name in more),
        [],
      )
      await back.client.unsubscribeAsync('messages')
    },
  ],
  [
    'a will waits for its delay, and for nothing of a client that is back',
    async (t, { id, enter }) => {
      const to = await enter()
      await to.client.subscribeAsync([attr(id, 'd1'), attr(id, 'd2')])
      const delayed = (name: string): IClientOptions => ({
        ...KEPT,
        clientId: `${id}-${name}`,
        will: {
          topic: attr(id, name),
          payload: Buffer.from('1'),
          properties: { willDelayInterval: 1 },
        },
      })
      await (await enter(delayed('d1'))).breakOff()
      await enter(delayed('d1'))
      await (await enter(delayed('d2'))).breakOff()
      t.deepEqual(await to.hears(1), [`${attr(id, 'd2')} 1`])
    },
  ],
  [
    'a refused publish has a reason, and the connection goes on',
    async (t, { id, enter }) => {
      const from = await enter()
      const refused = from.client.publishAsync('elsewhere', '1', { qos: 1 })
      t.is((await t.throwsAsync<Error & { code: number }>(refused))?.code, 0x90)
      await t.notThrowsAsync(from.client.publishAsync(attr(id, 'f'), '1', { qos: 1 }))
    },
  ],
]
