// Goal: whatever a key opened ends with the key: on every carrier and door, whichever node is told,
// and also when no notice of it comes.
// Method: one client on each door, opened by a key and by the password; the key ends, and those that
// it opened must end, while the others stay.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { connect, connectAsync } from 'mqtt'
import type { IClientOptions } from 'mqtt'

import { makeCertificate } from '#test/support/certificate'
import { allLanesApplied, nodeOf, startCluster, testsWithServers } from '#test/support/cluster'
import type { Servers } from '#test/support/cluster'
import { freePort } from '#test/support/free-port'
import { post, startGateway } from '#test/support/gateway'
import type { Gateway, Owner } from '#test/support/gateway'
import { standing } from '#test/support/standing'
import { until } from '#test/support/until'

const clusterTest = testsWithServers()
const PASSWORD = 'correct-horse-battery'
/** A key that expires lives this many times as long as it took to open every door before. */
const LIVES = 3
const LIFE_MS_MIN = 3_000
const IN_CONNECT = 40

interface Site {
  readonly gateway: Gateway
  readonly mqtt: readonly (readonly [door: string, url: string])[]
}

interface Opened {
  readonly door: string
  isOver: boolean
}

/** The settings of MQTT on every carrier, and where they are. */
async function mqttOf(t: Owner) {
  const [port, tlsPort] = [await freePort(t), await freePort(t)]
  const { certFile, keyFile } = await makeCertificate(t)
  return {
    env: {
      SERVICE_TOKEN: '',
      SERVICE_MQTT_ADDR: `127.0.0.1:${port}`,
      SERVICE_MQTT_TLS_ADDR: `127.0.0.1:${tlsPort}`,
      SERVICE_PRIVATE_TLS_CERT: certFile,
      SERVICE_PRIVATE_TLS_KEY: keyFile,
      SERVICE_MQTT_WS: 'true',
    },
    siteOf: (gateway: Gateway): Site => ({
      gateway,
      mqtt: [
        ['tcp', `mqtt://127.0.0.1:${port}`],
        ['tls', `mqtts://127.0.0.1:${tlsPort}`],
        ['websocket', `${gateway.baseUrl.replace('http', 'ws')}/mqtt`],
      ],
    }),
  }
}

/** Opens every door by a secret of the channel. */
async function openAll(
  t: ExecutionContext,
  { gateway, mqtt }: Site,
  { channelId, secret }: { readonly channelId: string; readonly secret: string },
): Promise<readonly Opened[]> {
  const opened: Opened[] = []
  const noted = (door: string): Opened => {
    const each = { door, isOver: false }
    opened.push(each)
    return each
  }
  const byMqtt = async (door: string, url: string, more: IClientOptions): Promise<void> => {
    const credentials = { username: channelId, password: secret }
    const options = { ...credentials, reconnectPeriod: 0, rejectUnauthorized: false, ...more }
    const client = await connectAsync(url, options)
    const each = noted(`${door} ${more.protocolVersion} ${more.clean}`)
    client.on('error', () => undefined).once('close', () => (each.isOver = true))
    t.teardown(() => client.endAsync(true))
    await client.subscribeAsync('messages', { qos: 1 })
  }
  const byHttp = async (form: string): Promise<void> => {
    const end = new AbortController()
    t.teardown(() => end.abort())
    const path = `/compat-topic/${channelId}:${secret}/${form}`
    const response = await fetch(gateway.baseUrl + path, { signal: end.signal })
    t.is(response.status, 200, form)
    const each = noted(form)
    void (async () => {
      for await (const _ of response.body ?? []);
      each.isOver = true
    })().catch(() => undefined)
  }
  const byWebSocket = async (): Promise<void> => {
    const path = `/compat-topic/${channelId}:${secret}/ws`
    const socket = new WebSocket(gateway.baseUrl.replace('http', 'ws') + path)
    t.teardown(() => socket.close())
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    const each = noted('ws')
    socket.addEventListener('close', () => (each.isOver = true))
  }
  const clients = mqtt.flatMap(([door, url]) =>
    ([4, 5] as const).map((protocolVersion) => {
      const clean = protocolVersion === 5 || door === 'websocket' // A key may keep two.
      return byMqtt(door, url, { protocolVersion, clean, clientId: `${door}-${protocolVersion}` })
    }),
  )
  await Promise.all([...clients, ...['json', 'sse', 'raw'].map(byHttp), byWebSocket()])
  return opened
}

async function channelAt(gateway: Gateway): Promise<string> {
  const made = await post(gateway, '/channel/create', { channel_name: 'C', password: PASSWORD })
  return String(made.body.data['channel_id'])
}

const over = (opened: readonly Opened[]): readonly string[] =>
  opened.filter(({ isOver }) => isOver).map(({ door }) => door)

/** How a key ends, as a node is asked for it. */
type End = (node: Gateway, channel: object, keyId: string) => Promise<unknown>
const revoked: End = (node, channel, key_id) =>
  post(node, '/channel/key/revoke', { ...channel, key_id })

/**
 * Makes a key at one node, opens every door of another one by it, and lets it end: by its time if
 * `lifeMs` is given. Resolves with the milliseconds that it took to open the doors.
 */
async function endsWith(
  t: ExecutionContext,
  { told, site }: { readonly told: Gateway; readonly site: Site },
  end: End,
  lifeMs?: number,
): Promise<number> {
  const channelId = await channelAt(told)
  const channel = { channel_id: channelId, password: PASSWORD }
  const startMs = Date.now()
  const limited = lifeMs === undefined ? {} : { expires_at: startMs + lifeMs }
  const { body } = await post(told, '/channel/key', { ...channel, ...limited })
  const { key, key_id: keyId } = body.data as { readonly key: string; readonly key_id: string }
  const [byKey, byPassword] = await Promise.all([
    openAll(t, site, { channelId, secret: key }),
    openAll(t, site, { channelId, secret: PASSWORD }),
  ])
  t.deepEqual(over(byKey), [])
  const tookMs = Date.now() - startMs
  await end(told, channel, keyId)
  await until('what the key opened is over', () => byKey.every(({ isOver }) => isOver))
  t.deepEqual(over(byPassword), [])
  if (lifeMs !== undefined) t.true(Date.now() >= startMs + lifeMs)
  return tookMs
}

/** Lets a key be revoked, and then another one expire. */
async function endsByBoth(
  t: ExecutionContext,
  where: Parameters<typeof endsWith>[1],
): Promise<void> {
  const tookMs = await endsWith(t, where, revoked)
  await endsWith(t, where, async () => undefined, Math.max(LIFE_MS_MIN, tookMs * LIVES))
}

test('a key that ends, by its time or by revocation, ends what it opened on every door', async (t) => {
  const { env, siteOf } = await mqttOf(t)
  const gateway = await startGateway(t, { env })
  const site = siteOf(gateway)
  await endsByBoth(t, { told: gateway, site })
})

/** Two nodes: one is told, and the other one has the doors. */
const twoNodes = standing(async (file, servers: Servers) => {
  const { env, siteOf } = await mqttOf(file)
  const cluster = await startCluster(file, servers, [{ SERVICE_TOKEN: '' }, env])
  const told = nodeOf(cluster, 0)
  await allLanesApplied(told)
  return { told, site: siteOf(nodeOf(cluster, 1)) }
})

clusterTest(
  'a key that ends at one node ends what it opened at another, also while the bus is away',
  async (t, servers) => {
    const where = await twoNodes(servers)
    const revokedUnheard: End = async (...asked) => {
      await servers.nats.kill('SIGKILL')
      await revoked(...asked)
      await servers.nats.restart()
    }
    await endsByBoth(t, where)
    await endsWith(t, where, revokedUnheard)
  },
)

clusterTest(
  'mqtt-connection/5: connections in the middle of CONNECT at one node end with a key that another revokes',
  async (t, servers) => {
    const { told, site } = await twoNodes(servers)
    const { mqtt } = site
    const channel = { channel_id: await channelAt(told), password: PASSWORD }
    const { body } = await post(told, '/channel/key', channel)
    const { key, key_id: keyId } = body.data as { readonly key: string; readonly key_id: string }
    const closed = new Set<number>()
    const entered = Promise.withResolvers<void>()
    for (let each = 0; each < IN_CONNECT; each += 1) {
      const [, url = ''] = mqtt[each % mqtt.length] ?? []
      const options = { username: key, clientId: `c${each}`, reconnectPeriod: 0 }
      const client = connect(url, { ...options, protocolVersion: 5, rejectUnauthorized: false })
      t.teardown(() => client.end(true))
      client.on('error', () => undefined)
      client.on('connect', () => entered.resolve())
      client.on('close', () => closed.add(each))
    }
    await entered.promise
    await revoked(told, channel, keyId)
    await until('no connection is left', () => closed.size === IN_CONNECT)
    t.is(closed.size, IN_CONNECT)
  },
)
