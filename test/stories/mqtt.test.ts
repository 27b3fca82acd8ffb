// Goal: real clients of MQTT use a gateway as they are.
// Method: one gateway with a listener over TCP, one with TLS and one over WebSocket; each client does
// what it is made for, and the gateway says over HTTP what came of it.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { connectAsync } from 'mqtt'
import type { IClientOptions, MqttClient } from 'mqtt'

import { installPackage } from '#src/dev/servers/programs'
import { WAIT_MS } from '#test/support/bounds'
import { makeCertificate } from '#test/support/certificate'
import { freePort } from '#test/support/free-port'
import { post, startGateway, temporaryFolder, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { paho } from '#test/support/python-library'

const run = promisify(execFile)
const PASSWORD = 'correct horse battery'
const MOSQUITTO_PUB = '/usr/bin/mosquitto_pub'
const MOSQUITTO_SUB = '/usr/bin/mosquitto_sub'
const PAHO = new URL('../support/paho-client.py', import.meta.url).pathname

interface Site {
  readonly gateway: Gateway
  readonly port: number
  readonly tls: { readonly port: number; readonly caFile: string }
  readonly channelId: string
  readonly key: string
}

/** A gateway with MQTT, a channel and a key of it: with a gateway token only keys open sessions. */
async function startSite(t: ExecutionContext, directory?: string): Promise<Site> {
  const [port, tlsPort] = [await freePort(t), await freePort(t)]
  const { certFile, keyFile } = await makeCertificate(t)
  const env = {
    SERVICE_MQTT_ADDR: `127.0.0.1:${port}`,
    SERVICE_MQTT_TLS_ADDR: `127.0.0.1:${tlsPort}`,
    SERVICE_PRIVATE_TLS_CERT: certFile,
    SERVICE_PRIVATE_TLS_KEY: keyFile,
    SERVICE_MQTT_WS: 'true',
  }
  const gateway = await startGateway(t, { env, ...(directory !== undefined && { directory }) })
  const made = await post(gateway, '/channel/create', { channel_name: 'C', password: PASSWORD })
  const channelId = String(made.body.data['channel_id'])
  const credentials = { channel_id: channelId, password: PASSWORD }
  const keyed = await post(gateway, '/channel/key', { ...credentials, scopes: ['send', 'read'] })
  const tls = { port: tlsPort, caFile: certFile }
  return { gateway, port, tls, channelId, key: String(keyed.body.data['key']) }
}

/** The attrs of a Thing once it is there. */
async function attrsOf({ gateway, channelId }: Site, thingId: string): Promise<unknown> {
  const body = { channel_id: channelId, password: PASSWORD, thing_id: thingId }
  const found = await until(
    () => post(gateway, '/thing/get', body),
    ({ status }) => status === 200,
  )
  return found.body.data['attrs']
}

/** The ids of all Things of the channel. */
async function thingIdsOf({ gateway, channelId }: Site): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  let cursor: unknown
  do {
    const body = { channel_id: channelId, password: PASSWORD, limit: 200, cursor }
    const { data } = (await post(gateway, '/thing/list', body)).body
    for (const { thing_id: id } of data['items'] as { thing_id: string }[]) ids.add(id)
    cursor = data['next_cursor']
  } while (typeof cursor === 'string' && ids.size < 1_000)
  return ids
}

const open = (
  { port, key }: Site,
  options: IClientOptions = {},
  url?: string,
): Promise<MqttClient> =>
  connectAsync(url ?? `mqtt://127.0.0.1:${port}`, {
    username: key,
    reconnectPeriod: 0,
    ...options,
  })

type Use = (t: ExecutionContext, site: Site) => Promise<void>

const LEVELS = [4, 5] as const

const mosquitto: Use = async (t, site) => {
  const isMissing = async (): Promise<boolean> => !existsSync(MOSQUITTO_PUB)
  if (await isMissing()) await installPackage('mosquitto-clients', process.env, isMissing)
  if (await isMissing()) return t.log('not run: mosquitto-clients cannot be had')
  const access = ['-p', String(site.port), '-u', site.channelId]
  for (const [version, qos] of [
    ['mqttv311', '0'],
    ['mqttv311', '1'],
    ['mqttv5', '2'],
  ] as const) {
    const topic = `things/m-${version}-${qos}/attrs/t`
    const words = ['-P', site.key, '-V', version, '-q', qos, '-t', topic, '-m', '20.5']
    await run(MOSQUITTO_PUB, [...access, ...words])
    t.deepEqual(await attrsOf(site, `m-${version}-${qos}`), { t: 20.5 })
  }
  const one = ['-P', site.key, '-t', 'things/m-mqttv5-2/attrs/t', '-C', '1', '-F', '%r %p']
  t.is((await run(MOSQUITTO_SUB, [...access, ...one])).stdout, '1 20.5\n')
  const overTls = ['-p', String(site.tls.port), '--cafile', site.tls.caFile, '-u', site.channelId]
  const secret = ['-P', site.key, '-q', '1', '-t', 'things/m-tls/attrs/t', '-m', '1']
  await run(MOSQUITTO_PUB, [...overTls, ...secret])
  t.deepEqual(await attrsOf(site, 'm-tls'), { t: 1 })
  const wrong = ['-P', 'a wrong password', '-t', 'messages', '-m', 'x']
  await t.throwsAsync(run(MOSQUITTO_PUB, [...access, ...wrong]))
}

const pahoOfPython: Use = async (t, site) => {
  const python = await paho(t)
  if (python === undefined) return
  for (const level of LEVELS) {
    const words = [PAHO, String(site.port), String(level), site.channelId, site.key]
    const { stdout } = await run(python.file, words, { env: python.env, timeout: WAIT_MS })
    t.is(stdout, 'published 0\npublished 1\npublished 2\n')
    for (const qos of [0, 1, 2]) {
      t.deepEqual(await attrsOf(site, `paho-${level}-${qos}`), { by: 'paho' })
    }
  }
}

const mqttOfNpm: Use = async (t, site) => {
  const webSocket = `${site.gateway.baseUrl.replace('http', 'ws')}/mqtt`
  const ca = await readFile(site.tls.caFile)
  for (const [name, url] of [
    ['tcp', undefined],
    ['tls', `mqtts://127.0.0.1:${site.tls.port}`],
    ['ws', webSocket],
  ] as const) {
    for (const level of LEVELS) {
      const client = await open(site, { protocolVersion: level, ca }, url)
      const thing = `js-${level}-${name}`
      const heard: string[] = []
      client.on('message', (topic, payload) => heard.push(`${topic} ${payload.toString()}`))
      await client.subscribeAsync(`things/${thing}/attrs/+`, { qos: 1 })
      await client.publishAsync(`things/${thing}`, '{"title":"T"}', { qos: 1 })
      await client.publishAsync(`things/${thing}/attrs/on`, 'ON', { qos: 2 })
      // What subscribers hear is applied.
      await until(
        async () => heard,
        ({ length }) => length > 0,
      )
      t.deepEqual(heard, [`things/${thing}/attrs/on true`])
      t.deepEqual(await attrsOf(site, thing), { on: true })
      const elsewhere = client.publishAsync('elsewhere', '1', { qos: 1 })
      if (level === 5) await t.throwsAsync(elsewhere, { message: /Topic Name invalid/i })
      else await t.notThrowsAsync(elsewhere)
      await client.endAsync()
    }
  }
}

const stop: Use = async (t, site) => {
  const client = await open(site, { protocolVersion: 5 })
  const told = new Promise((resolve) =>
    client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
  )
  t.is(await site.gateway.end('SIGTERM'), 0)
  t.is(await told, 0x8b)
  await client.endAsync()
}

test('mosquitto, paho and mqtt of npm publish and subscribe as they are, and a stop is said', async (t) => {
  const site = await startSite(t)
  for (const use of [mosquitto, pahoOfPython, mqttOfNpm, stop]) await use(t, site)
})

test('W1: after kill -9 everything that was acknowledged is there', async (t) => {
  const directory = await temporaryFolder(t)
  const site = await startSite(t, directory)
  const client = await open(site)
  client.on('error', () => undefined)
  const acknowledged: number[] = []
  const killed = Promise.withResolvers<unknown>()
  for (let at = 0; at < 400; at += 1) {
    const sent = client.publishAsync(`things/k-${at}/attrs/n`, String(at), { qos: 1 })
    void sent.then(
      () => {
        acknowledged.push(at)
        if (acknowledged.length === 150) killed.resolve(site.gateway.end('SIGKILL'))
      },
      () => undefined,
    )
  }
  t.is(await killed.promise, 'SIGKILL')
  await client.endAsync(true)
  const again = { ...site, gateway: await startGateway(t, { directory }) }
  t.true(acknowledged.length >= 150)
  const kept = await thingIdsOf(again)
  t.deepEqual(
    acknowledged.filter((at) => !kept.has(`k-${at}`)),
    [],
  )
})
