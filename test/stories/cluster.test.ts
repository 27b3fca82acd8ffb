// Goal: a cluster keeps what it answered 200, whoever of it is killed, hangs or is away. (W1, W2,
// W9)
// Method: three node processes over a real nats-server and a real MariaDB go through one disaster
// after the other, with senders on every node and a device on one; after each comes the audit:
// every 200 so far is exactly one operation, effect and feed entry, and the device misses nothing.

import { setTimeout as delay } from 'node:timers/promises'

import type { ExecutionContext } from 'ava'
import { connectAsync } from 'mqtt'
import type { MqttClient } from 'mqtt'

import type { ChannelId } from '#domain/identity'
import { TEST_MS } from '#test/support/bounds'
import {
  acceptedMore,
  lanesOf,
  loaded,
  loadOn,
  nodeOf,
  startCluster,
  testsWithServers,
  throughEveryLane,
  workplace,
} from '#test/support/cluster'
import type { Cluster, Load, Servers, Workplace } from '#test/support/cluster'
import { firedOnce, readingsUnderRules } from '#test/support/cluster-rules'
import { PASSWORD } from '#test/support/device'
import { freePort } from '#test/support/free-port'
import { aheadBy, post, until } from '#test/support/gateway'
import type { Outcome } from '#test/support/load'
import { mixedLoad } from '#test/support/mixed-load'
import { seeded } from '#test/support/random'
import { Relay } from '#test/support/relay'
import { standing } from '#test/support/standing'

const CHANNELS = 10
/** Submissions that are accepted before and after each disaster, and within it at least. */
const SENT = 40
/** A slow load: what is told here are the disasters, and three nodes take two cores as it is. */
const PAUSE_MS = 250

const seed = Number(process.env['TEST_SEED'] ?? 20_261_121)
const random = seeded(seed)

const clusterTest = testsWithServers()

interface Standing {
  readonly cluster: Cluster
  readonly place: Workplace
  /** The relays between the last node and the servers. */
  readonly partition: { readonly nats: Relay; readonly mariaDb: Relay }
  /** The ports on which the first two nodes listen for MQTT. */
  readonly mqttPorts: readonly number[]
}

interface Scene extends Standing {
  readonly t: ExecutionContext
  readonly servers: Servers
  readonly load: Load
  readonly channels: readonly ChannelId[]
  /** Submissions of the disaster itself. */
  readonly sent: Outcome[]
}

const everything = standing(async (file, servers: Servers): Promise<Standing> => {
  const partition = {
    nats: await Relay.open(file, servers.nats.port),
    mariaDb: await Relay.open(file, servers.mariaDb.port),
  }
  const behindRelays = {
    SERVICE_NATS_URL: `nats://127.0.0.1:${partition.nats.port}`,
    SERVICE_DATABASE_URL: servers.databaseUrl.replace(/:\d+\//, `:${partition.mariaDb.port}/`),
  }
  const mqttPorts = [await freePort(file), await freePort(file)]
  const listening = mqttPorts.map((port) => ({ SERVICE_MQTT_ADDR: `127.0.0.1:${port}` }))
  const cluster = await startCluster(file, servers, [...listening, behindRelays])
  const next = (of: readonly ChannelId[]) => mixedLoad(of, random)
  const place = await workplace(file, cluster, { channels: CHANNELS, next, pauseMs: PAUSE_MS })
  return { cluster, partition, place, mqttPorts }
})

/** Runs a disaster under load, lets the cluster come to rest and audits it. */
async function story(
  t: ExecutionContext,
  servers: Servers,
  disaster: (scene: Scene) => Promise<void>,
): Promise<void> {
  t.timeout(TEST_MS)
  t.log(`TEST_SEED=${seed}`)
  const shared = await everything(servers)
  const { cluster, place } = shared
  const { channels, load, audited } = await loaded(t, cluster, place, SENT)
  const sent: Outcome[] = []
  await disaster({ t, servers, ...shared, load, channels, sent })
  await acceptedMore(load, SENT)
  await audited(nodeOf(cluster, 1), sent)
}

/** Sends through every lane, and waits until all of it was applied: the owner is still away. */
async function servedByOthers({ t, cluster, channels, sent }: Scene): Promise<void> {
  const startedMs = performance.now()
  sent.push(...(await throughEveryLane(nodeOf(cluster, 1), channels)))
  t.log(`every lane was served again after ${Math.round(performance.now() - startedMs)} ms`)
}

type Disaster = readonly [title: string, happens: (scene: Scene) => Promise<void>]

const DISASTERS: readonly Disaster[] = [
  [
    'kill -9 of the node with the device, then of an owner of lanes, whose rules fire once',
    async (scene) => {
      const { t, cluster, load } = scene
      await nodeOf(cluster, 0).end('SIGKILL')
      await cluster.again(0)
      await acceptedMore(load, SENT)
      const watched = await readingsUnderRules(nodeOf(cluster, 1), 5)
      await nodeOf(cluster, 2).end('SIGKILL')
      await servedByOthers(scene)
      await firedOnce(t, { gateway: nodeOf(cluster, 1), watched, sinceMs: Date.now() })
      await cluster.again(2)
    },
  ],
  [
    'a restart of NATS, then kill -9 of it, and a node that stops while it is away',
    async ({ t, cluster, servers: { nats }, load }) => {
      await nats.kill('SIGTERM')
      await nats.restart()
      await acceptedMore(load, SENT)
      await nats.kill('SIGKILL')
      t.is(await nodeOf(cluster, 2).end('SIGTERM'), 0)
      await nats.restart()
      await cluster.again(2)
    },
  ],
  [
    'a database that hangs for a while, then kill -9 of it: known channels are accepted meanwhile',
    async ({ servers: { mariaDb }, load }) => {
      await mariaDb.kill('SIGSTOP')
      await acceptedMore(load, SENT)
      await mariaDb.kill('SIGCONT')
      await acceptedMore(load, SENT)
      await mariaDb.kill('SIGKILL')
      await acceptedMore(load, SENT)
      await mariaDb.restart()
    },
  ],
  [
    'an owner of lanes is parted from NATS, then from the database: others serve, nothing is lost',
    async (scene) => {
      const { load, partition } = scene
      partition.nats.freeze()
      await servedByOthers(scene)
      partition.nats.thaw()
      await acceptedMore(load, SENT)
      partition.mariaDb.freeze()
      await acceptedMore(load, SENT)
      await delay(2000)
      partition.mariaDb.thaw()
    },
  ],
]

for (const [title, happens] of shuffled(DISASTERS)) {
  clusterTest(title, (t, servers) => story(t, servers, happens))
}

clusterTest('a kept session of MQTT goes on at another node after kill -9', async (t, servers) => {
  t.timeout(TEST_MS)
  const { cluster, mqttPorts } = await everything(servers)
  const channel = { channel_name: 'a channel', password: PASSWORD }
  const made = await post(nodeOf(cluster, 1), '/channel/create', channel)
  const channel_id = String(made.body.data['channel_id'])
  const scopes = ['send', 'read']
  const credentials = { channel_id, password: PASSWORD, scopes }
  const keyed = await post(nodeOf(cluster, 1), '/channel/key', credentials)
  const connect = (index: number): Promise<MqttClient> =>
    connectAsync(`mqtt://127.0.0.1:${mqttPorts[index]}`, {
      username: String(keyed.body.data['key']),
      clientId: 'phone',
      clean: false,
      reconnectPeriod: 0,
      protocolVersion: 4,
    })
  const send = (title: string) =>
    post(nodeOf(cluster, 1), '/message', { channel_id, password: PASSWORD, title })
  const heard = new Set<string>()
  const hear = (client: MqttClient): MqttClient =>
    client
      .on('message', (_, payload) =>
        heard.add(String(/"title":"(\d)"/.exec(payload.toString())?.[1])),
      )
      .on('error', () => undefined)
  const hears = (title: string) =>
    until(
      () => Promise.resolve(heard),
      (titles) => titles.has(title),
    )
  const first = hear(await connect(0))
  await first.subscribeAsync('messages', { qos: 1 })
  await send('1')
  await hears('1')
  await nodeOf(cluster, 0).end('SIGKILL')
  await send('2')
  const second = hear(await connect(1))
  await hears('2')
  await cluster.again(0)
  const taken = new Promise<void>((resolve) => second.once('close', () => resolve()))
  const third = hear(await connect(0))
  await taken
  await send('3')
  await hears('3')
  for (const client of [first, second, third]) await client.endAsync(true)
  t.deepEqual([...heard], ['1', '2', '3'])
})

clusterTest('a node joins and gets lanes, and an old one restarts', (t, servers) =>
  story(t, servers, async ({ cluster, place, load, sent }) => {
    const joined = await cluster.join()
    t.log(`${await lanesOf(joined)} lanes moved to the new node`)
    const own = loadOn({ nodes: [joined] }, place.next, PAUSE_MS)
    t.teardown(() => own.stop())
    await acceptedMore(own, SENT)
    t.is(await nodeOf(cluster, 0).end('SIGTERM'), 0)
    await lanesOf(await cluster.again(0))
    await acceptedMore(load, SENT)
    sent.push(...(await own.stop()))
  }),
)

clusterTest(
  'each node stops as it is told to; what was due for ten minutes fires once',
  async (t, servers) => {
    t.timeout(TEST_MS)
    const { cluster } = await everything(servers)
    const watched = await readingsUnderRules(nodeOf(cluster, 0), 300)
    for (const node of cluster.nodes) t.is(await node.end('SIGTERM'), 0)
    for (const server of [servers.nats, servers.mariaDb]) {
      await server.kill('SIGTERM')
      await server.restart()
    }
    const stop = 600_000
    const gateway = await cluster.again(0, aheadBy(stop))
    await firedOnce(t, { gateway, watched, sinceMs: Date.now() + stop })
    t.is(await gateway.end('SIGTERM'), 0)
  },
)

function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => ({ item, place: random(2 ** 30) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
