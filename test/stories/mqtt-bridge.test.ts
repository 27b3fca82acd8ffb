// Goal: the bridge takes what another broker has, and loses nothing that it acknowledged, whichever
// side is killed.
// Method: a publisher sends to mosquitto at QoS 1 while the gateway is killed and the broker is
// restarted. Each publish is a Thing of its own, so that the gateway's list shows what is missing.
// RUNS sets how often one of both is killed.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { connectAsync } from 'mqtt'
import type { ExecutionContext } from 'ava'

import { TEST_MS } from '#test/support/bounds'
import { startMosquitto } from '#test/support/mosquitto'
import type { MosquittoServer } from '#test/support/mosquitto'
import { connectBroker } from '#src/mqtt/bridge/broker'
import type { Broker } from '#src/mqtt/bridge/broker'
import { figureOf, post, startGateway, temporaryFolder, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { sharedServers } from '#test/support/shared-servers'

const broker = sharedServers<MosquittoServer>('mosquitto', {
  start: () => startMosquitto(process.env),
  stop: (server) => server.stop(),
  isSerial: true,
})

const PASSWORD = 'channel-password'
const KILLS = Number(process.env['RUNS'] ?? 3)
const PUBLISHES_OF_A_KILL = 60

/** A folder with a gateway's data and the file of a key, and a way to start a gateway there. */
async function bridged(t: ExecutionContext, { url }: MosquittoServer) {
  const directory = await temporaryFolder(t)
  const first = await startGateway(t, { directory })
  const named = { channel_name: 'fleet', password: PASSWORD }
  const channel_id = (await post(first, '/channel/create', named)).body.data['channel_id']
  const credentials = { channel_id, password: PASSWORD }
  const { body } = await post(first, '/channel/key', credentials)
  await first.end('SIGTERM')
  const SERVICE_MQTT_BRIDGE_KEY_FILE = join(directory, 'bridge.key')
  await writeFile(SERVICE_MQTT_BRIDGE_KEY_FILE, `${String(body.data['key'])}\n`)
  const env = {
    SERVICE_MQTT_BRIDGE_KEY_FILE,
    SERVICE_MQTT_BRIDGE_URL: url,
    SERVICE_MQTT_BRIDGE_TOPICS: 'tele/#, spBv1.0/#',
  }
  return { credentials, start: () => startGateway(t, { directory, env }) }
}

async function thingsOf(gateway: Gateway, credentials: object): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  let cursor: unknown
  for (let page = 0; page < 100; page += 1) {
    const asked = { ...credentials, limit: 200, ...(cursor !== undefined && { cursor }) }
    const { data } = (await post(gateway, '/thing/list', asked)).body
    const { items = [], next_cursor: next } = data as {
      items?: readonly { readonly thing_id: string }[]
      next_cursor?: string | null
    }
    for (const item of items) ids.add(item.thing_id)
    if (typeof next !== 'string') break
    cursor = next
  }
  return ids
}

broker.test('killed either side, no publish is missing in the gateway', async (t, mosquitto) => {
  t.timeout(TEST_MS)
  const { credentials, start } = await bridged(t, mosquitto)
  let gateway = await start()
  const isConnected = () => figureOf(gateway, 'heliograph_bridge_connected')
  await until(isConnected, (figure) => figure === 1)
  const publisher = await connectAsync(mosquitto.url, {
    clientId: 'p',
    clean: false,
    reconnectPeriod: 50,
  })
  t.teardown(() => publisher.endAsync(true))
  const sent: string[] = []
  const acknowledged: Promise<unknown>[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    for (let index = 0; index < PUBLISHES_OF_A_KILL; index += 1) {
      const id = `d${kill}-${index}`
      sent.push(id)
      acknowledged.push(publisher.publishAsync(`tele/${id}/SENSOR`, '{"n":1}', { qos: 1 }))
    }
    const accepted = () => figureOf(gateway, 'heliograph_bridge_publishes_total')
    await until(accepted, (figure) => figure > 0)
    if (kill % 2 === 0) {
      await gateway.end('SIGKILL')
      gateway = await start()
    } else {
      // It writes what it keeps to its file when it ends; by SIGKILL it would lose its own.
      await mosquitto.kill('SIGTERM')
      await mosquitto.restart()
    }
  }
  await Promise.all(acknowledged)
  const ids = await until(
    () => thingsOf(gateway, credentials),
    (things) => things.size >= sent.length,
  )
  t.deepEqual(
    sent.filter((id) => !ids.has(id)),
    [],
  )
  t.is(await gateway.end('SIGTERM'), 0)
})

broker.test(
  'broker/1: a publish that was not taken comes again, and one that was does not',
  async (t, mosquitto) => {
    const key = 'k'.repeat(43)
    const got: string[] = []
    const session = (take: (topic: string) => Promise<void>) =>
      new Promise<Broker>((resolve) => {
        const options = { url: mosquitto.url, topics: ['a/#'], key }
        const ready = connectBroker(options, {
          take: ({ topic }) => (got.push(topic), take(topic)),
          connected: () => setImmediate(() => resolve(ready)),
          lost: () => undefined,
          failed: (reason) => t.log(reason),
        })
        t.teardown(() => ready.close())
      })
    const publisher = await connectAsync(mosquitto.url)
    t.teardown(() => publisher.endAsync(true))
    const send = (topic: string) => publisher.publishAsync(topic, 'x', { qos: 1 })
    const first = await session((topic) =>
      topic === 'a/1' ? Promise.resolve() : Promise.reject(new Error('not now')),
    )
    await until(
      () => send('a/1'),
      () => got.length > 0,
    )
    await Promise.all([send('a/2'), send('a/3')])
    await until(
      async () => got,
      (topics) => topics.includes('a/2'),
    )
    t.false(got.includes('a/3'))
    await first.close()
    got.length = 0
    await session(() => Promise.resolve())
    await until(
      async () => got,
      (topics) => topics.includes('a/3'),
    )
    t.deepEqual(got, ['a/2', 'a/3'])
  },
)
