// Goal: what is changed on one node holds there from the answer on, and on every other node within
// a second. What must be decided once is decided once, whichever nodes are asked together.
// (decisions.md 6, 7)

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import { watch } from '#src/client/watch'
import type { Delivery } from '#src/schemas/frames'
import { TEST_MS } from '#test/support/bounds'
import { historyOf } from '#test/support/audit'
import { allLanesApplied, nodeOf, startCluster, testsWithServers } from '#test/support/cluster'
import type { Servers } from '#test/support/cluster'
import { createChannels, PASSWORD } from '#test/support/device'
import { post, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { standing } from '#test/support/standing'

/** Far less than the minute after which a kept answer is compared with the database in any case. */
const NEW_PASSWORD = 'another-password'

const clusterTest = testsWithServers()

/** A device with a session on one node, and what it was told. */
interface Device {
  readonly key: string
  readonly seen: Delivery[]
  /** The channels that it was told to have now. */
  readonly channels: Set<ChannelId>
}

interface Scene {
  readonly t: ExecutionContext
  /** The node through which things are changed. */
  readonly one: Gateway
  readonly client: Client
  /** The node at which the changes must hold too. */
  readonly two: Gateway
  readonly channel: ChannelId
  /** With a session on the second node, subscribed to the channel. */
  readonly device: Device
}

type Effect = (scene: Scene) => Promise<void>

const clusterOf = standing((file, servers: Servers) => startCluster(file, servers, 2))

/** Runs them one after the other on the cluster, each with a channel and a device of its own. */
async function inTurn(
  t: ExecutionContext,
  servers: Servers,
  effects: Readonly<Record<string, Effect>>,
): Promise<void> {
  t.timeout(TEST_MS)
  const cluster = await clusterOf(servers)
  const [one, two] = [nodeOf(cluster, 0), nodeOf(cluster, 1)]
  await allLanesApplied(one)
  const client = createClient(one)
  for (const [name, effect] of Object.entries(effects)) {
    t.log(name)
    const channel = await oneChannel(one)
    const { device_key: key } = await client.device.register({ platform: 'linux' })
    await client.channel.subscribe({ device_key: key, channel_id: channel, password: PASSWORD })
    const device = await connect(t, two, key)
    await effect({ t, one, client, two, channel, device })
  }
}

async function oneChannel(gateway: Gateway): Promise<ChannelId> {
  const [channel] = await createChannels(gateway, 1)
  if (channel === undefined) throw new Error('no channel')
  return channel
}

async function connect(t: ExecutionContext, gateway: Gateway, key: string): Promise<Device> {
  const device: Device = { key, seen: [], channels: new Set() }
  const { baseUrl, token } = gateway
  const opened = Promise.withResolvers<void>()
  const watching = watch({
    baseUrl,
    token,
    deviceKey: key,
    onEntry: (delivery) => void device.seen.push(delivery),
    onChannel: ({ channelId }) => void device.channels.add(channelId),
    onUnsubscribed: (channelId) => void device.channels.delete(channelId),
    onState: ({ kind }) => {
      if (kind === 'open') opened.resolve()
    },
  })
  t.teardown(() => watching.close())
  await opened.promise
  return device
}

const send = (gateway: Gateway, channel_id: ChannelId, password = PASSWORD) =>
  post(gateway, '/message', { channel_id, password, title: 'x' })

/** The answer to a sender with this password: 200, or the code of the refusal. */
async function answerTo(gateway: Gateway, channel: ChannelId, password: string): Promise<unknown> {
  const { status, body } = await send(gateway, channel, password)
  return status === 200 ? 200 : `${status} ${body.error_code}`
}

/** Waits until a node has acted on the message of another one, long before time alone would do. */
const soon = <Value>(
  ask: () => Value | Promise<Value>,
  done: (value: Value) => boolean,
): Promise<Value> => until(async () => ask(), done)

const NOT_FOUND = '404 channel_not_found'

const CHANGES: Readonly<Record<string, Effect>> = {
  'a changed password': async ({ t, one, two, client, channel }) => {
    for (const node of [one, two]) t.is(await answerTo(node, channel, PASSWORD), 200)
    const old = { channel_id: channel, password: PASSWORD }
    await client.channel.changePassword({ ...old, new_password: NEW_PASSWORD })
    t.is(await answerTo(one, channel, PASSWORD), NOT_FOUND)
    t.is(await answerTo(one, channel, NEW_PASSWORD), 200)
    await soon(
      () => answerTo(two, channel, PASSWORD),
      (answer) => answer === NOT_FOUND,
    )
    t.is(await answerTo(two, channel, NEW_PASSWORD), 200)
  },

  'a new name': async ({ t, one, two, client, channel }) => {
    const credentials = { channel_id: channel, password: PASSWORD }
    const nameOn = async (node: Gateway): Promise<unknown> =>
      (await post(node, '/channel/info', credentials)).body.data['channel_name']
    await nameOn(two)
    await client.channel.rename({ ...credentials, channel_name: 'Another name' })
    t.is(await nameOn(one), 'Another name')
    await soon(
      () => nameOn(two),
      (name) => name === 'Another name',
    )
  },

  'a deleted channel': async ({ t, one, two, client, channel, device }) => {
    for (const node of [one, two]) t.is(await answerTo(node, channel, PASSWORD), 200)
    await client.channel.delete({ channel_id: channel, password: PASSWORD })
    t.is(await answerTo(one, channel, PASSWORD), NOT_FOUND)
    await soon(
      () => answerTo(two, channel, PASSWORD),
      (answer) => answer === NOT_FOUND,
    )
    await soon(
      () => device.channels.size,
      (size) => size === 0,
    )
  },

  'a subscription that is made and one that ends': async ({ t, one, client, channel, device }) => {
    const other = await oneChannel(one)
    const key = { device_key: device.key }
    await client.channel.subscribe({ ...key, channel_id: other, password: PASSWORD })
    const { body } = await send(one, other)
    await soon(() => device.seen.some(({ opId }) => opId === body.data['op_id']), Boolean)

    await client.channel.unsubscribe({ ...key, channel_id: channel })
    await soon(
      () => device.channels.has(channel),
      (isThere) => !isThere,
    )
    const { op_id: unheard } = (await send(one, channel)).body.data
    await until(
      () => client.status(String(unheard)),
      ({ status }) => status === 'sent',
    )
    const { op_id: heard } = (await send(one, other)).body.data
    await soon(() => device.seen.some(({ opId }) => opId === heard), Boolean)
    t.false(device.seen.some(({ opId }) => opId === unheard))
  },
}

const DECISIONS: Readonly<Record<string, Effect>> = {
  'of 100 devices that subscribe at once 32 do': async ({
    t,
    one,
    two,
    client,
    channel,
    device,
  }) => {
    const credentials = { channel_id: channel, password: PASSWORD }
    await client.channel.unsubscribe({ device_key: device.key, channel_id: channel })
    const devices = await Promise.all(
      Array.from({ length: 100 }, () => client.device.register({ platform: 'linux' })),
    )
    const answers = await Promise.all(
      devices.map(async ({ device_key }, index) => {
        const node = index % 2 === 0 ? one : two
        const body = { device_key, ...credentials }
        const { status, body: told } = await post(node, '/channel/subscribe', body)
        return status === 200 ? 'subscribed' : `${status} ${told.error_code}`
      }),
    )
    const counts = Map.groupBy(answers, (answer) => answer)
    t.deepEqual(Object.fromEntries([...counts].map(([answer, all]) => [answer, all.length])), {
      subscribed: 32,
      '400 channel_subscriber_limit_exceeded': 68,
    })
    t.is((await createClient(two).channel.info(credentials)).subscribers, 32)
  },

  'an op_id has one effect and one answer': async ({ t, one, two, client, channel }) => {
    const opIds = Array.from({ length: 20 }, (_, index) => `both-${index}`)
    const credentials = { channel_id: channel, password: PASSWORD }
    for (const op_id of opIds) {
      const body = { ...credentials, op_id, title: `Message ${op_id}` }
      const other = { ...body, title: 'something else' }
      const answers = await Promise.all(
        [one, two, one, two].map((node) => post(node, '/message', body)),
      )
      t.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
      const ids = answers.map(({ body: { data } }) => [data['op_id'], data['message_id']].join(' '))
      t.is(new Set(ids).size, 1, 'every answer is that of the first')
      for (const node of [one, two]) {
        const refused = await post(node, '/message', other)
        t.is(`${refused.status} ${refused.body.error_code}`, '409 op_id_payload_conflict')
      }
    }
    for (const opId of opIds) {
      await until(
        () => client.status(opId),
        ({ status }) => status === 'sent',
      )
    }
    const { length } = await historyOf(client, channel)
    t.is(length, opIds.length)
  },
}

clusterTest('what one node changes holds there at once, elsewhere soon', (t, servers) =>
  inTurn(t, servers, CHANGES),
)

clusterTest('what two nodes are asked at once is decided once', (t, servers) =>
  inTurn(t, servers, DECISIONS),
)
