// Goal: one session protocol on every carrier, for the SDK and for programs that are not ours.
// Method: a whole gateway with all carriers on. Node's own WebSocket, `openssl s_client` and aioquic
// play the same story by hand; then the SDK plays it over each of them.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { CarrierName } from '#domain/carrier'
import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { webSocketCarrier } from '#src/client/carrier'
import type { Carrier, Connection } from '#src/client/carrier'
import { quicCarrier } from '#src/client/node/quic'
import { tcpCarrier } from '#src/client/node/tcp'
import { watch } from '#src/client/watch'
import { TEST_MS } from '#test/support/bounds'
import { aioquic } from '#test/support/python-library'
import { withCertificate } from '#test/support/certificate'
import type { Certificate } from '#test/support/certificate'
import { PASSWORD, createChannels } from '#test/support/device'
import { aioquicDial, carrierOver, opensslDial } from '#test/support/foreign-peers'
import type { Dial } from '#test/support/foreign-peers'
import { wssPeer } from '#test/support/framed-client'
import type { Peer } from '#test/support/framed-client'
import { TOKEN, figureOf, get, startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

const HOST = '127.0.0.1'

interface Row {
  readonly dial: () => Promise<Peer>
  /** The SDK's own, and the SDK over a connection that is not ours. */
  readonly carriers: readonly Carrier[]
}

const over = (dial: Dial, own: Carrier): Row => ({
  dial: async () => dial(),
  carriers: [own, carrierOver(dial)],
})

type Prepare = (
  t: ExecutionContext,
  gateway: Gateway,
  certificate: Certificate,
) => Promise<Row | undefined>

const portsOf = async (gateway: Gateway): Promise<Record<string, number>> => {
  const { transport } = (await get(gateway, '/gateway/profile')).body.data
  return transport as Record<string, number>
}

const PREPARE: Readonly<Record<CarrierName, Prepare>> = {
  wss: async (t, { baseUrl }) => ({
    dial: () => wssPeer(t, `${baseUrl.replace('http', 'ws')}/private/ws`),
    carriers: [webSocketCarrier(baseUrl)],
  }),
  tcp: async (t, gateway, { certFile, pem }) => {
    const { tcp_port: port = 0 } = await portsOf(gateway)
    const own = tcpCarrier({ host: HOST, port, tls: { ca: pem, servername: '' } })
    return over(opensslDial(t, port, certFile), own)
  },
  quic: async (t, gateway, { certFile, pem }) => {
    const python = await aioquic(t)
    if (python === undefined) return undefined
    const { quic_port: port = 0 } = await portsOf(gateway)
    const own = quicCarrier({ host: HOST, port, serverName: 'localhost', ca: pem })
    return over(aioquicDial(t, port, certFile, python), own)
  },
}

const settingsOf = ({ certFile, keyFile }: Certificate): Record<string, string> => ({
  SERVICE_PRIVATE_TRANSPORTS: 'wss,tcp,quic',
  SERVICE_PRIVATE_TCP_ADDR: '127.0.0.1:0',
  SERVICE_PRIVATE_QUIC_ADDR: '127.0.0.1:0',
  SERVICE_PRIVATE_TLS_CERT: certFile,
  SERVICE_PRIVATE_TLS_KEY: keyFile,
})

/** Waits for other processes, so by the clock. */
const heard = (peer: Peer, part: string): Promise<readonly string[]> =>
  until(
    async () => peer.heard,
    (texts) => texts.some((text) => text.includes(part)),
  )
const ended = (peer: Peer): Promise<boolean> =>
  until(
    async () => peer.isClosed,
    (isClosed) => isClosed,
  )

async function deviceOn(gateway: Gateway, channel_id: ChannelId): Promise<string> {
  const client = createClient(gateway)
  const { device_key } = await client.device.register({ platform: 'linux' })
  await client.channel.subscribe({ device_key, channel_id, password: PASSWORD })
  return device_key
}

/** The promises to every device, as frames by hand. */
async function byHand(t: ExecutionContext, gateway: Gateway, { dial }: Row): Promise<void> {
  const [channel_id = '' as ChannelId] = await createChannels(gateway, 1)
  const device_key = await deviceOn(gateway, channel_id)
  const client = createClient(gateway)
  const send = (title: string) => client.message.send({ channel_id, password: PASSWORD, title })
  const hello = { type: 'hello', device_key, gateway_token: TOKEN }

  const first = await dial()
  first.say(hello)
  await heard(first, '"type":"welcome"')
  await heard(first, '"type":"caught_up"')
  await send('one, over the wire: ☀')
  await heard(first, '"title":"one, over the wire: ☀"')
  first.say({ type: 'ack', channel_id, seq: 1 })
  first.say({ type: 'ping', t: 'mark' })
  await heard(first, '{"type":"pong","t":"mark"}')

  const second = await dial()
  second.say({ ...hello, cursors: { [channel_id]: 1 } })
  await heard(first, '"reason":"replaced"')
  await ended(first)
  await heard(second, '"type":"caught_up"')
  await send('two')
  await heard(second, '"title":"two"')
  t.false(second.heard.some((text) => text.includes('one, over the wire')))
  second.leave()

  await send('three')
  const third = await dial()
  third.say({ ...hello, cursors: { [channel_id]: 2 } })
  await heard(third, '"title":"three"')
  t.true(third.heard.some((text) => /"seq":3,.*"replay":true/.test(text)))
  third.say('no frame')
  await heard(third, '"code":"invalid_json_syntax"')
  third.leave()

  const stranger = await dial()
  stranger.say({ ...hello, device_key: 'f'.repeat(32) })
  await heard(stranger, '"code":"device_key_not_found"')
  await ended(stranger)
  const guest = await dial()
  guest.say({ type: 'hello', device_key })
  await heard(guest, '"code":"authentication_failed"')
  await ended(guest)
}

/** The SDK loses its connection and misses nothing. */
async function bySdk(t: ExecutionContext, gateway: Gateway, carrier: Carrier): Promise<void> {
  const [channel_id = '' as ChannelId] = await createChannels(gateway, 1)
  const deviceKey = await deviceOn(gateway, channel_id)
  const client = createClient(gateway)
  const seen: unknown[] = []
  const connections: Connection[] = []
  const watching = watch({
    token: TOKEN,
    deviceKey,
    carrier: (events) => {
      const connection = carrier(events)
      connections.push(connection)
      return connection
    },
    onEntry: ({ payload }) => void seen.push(payload['title']),
  })
  t.teardown(() => watching.close())
  for (let count = 1; count <= 9; count += 1) {
    await client.message.send({ channel_id, password: PASSWORD, title: String(count) })
    if (count % 3 === 0) connections.at(-1)?.close()
  }
  await until(
    async () => seen,
    (titles) => titles.includes('9'),
  )
  t.deepEqual([...new Set(seen)], ['1', '2', '3', '4', '5', '6', '7', '8', '9'])
  await watching.close()
}

/** A session by hand that lasts until the gateway stops. */
async function lastSession(gateway: Gateway, { dial }: Row): Promise<Peer> {
  const [channel_id = '' as ChannelId] = await createChannels(gateway, 1)
  const device_key = await deviceOn(gateway, channel_id)
  const peer = await dial()
  peer.say({ type: 'hello', device_key, gateway_token: TOKEN })
  await heard(peer, '"type":"caught_up"')
  return peer
}

test(
  'on each carrier a device that is not ours and the SDK get everything, and are told when to leave',
  withCertificate(async (t, certificate) => {
    t.timeout(TEST_MS)
    const gateway = await startGateway(t, { env: settingsOf(certificate) })
    const sessionsEnded = () => figureOf(gateway, 'heliograph_sessions_ended_total')
    const rows: Row[] = []
    for (const kind of ['wss', 'tcp', 'quic'] as const) {
      const row = await PREPARE[kind](t, gateway, certificate)
      if (row === undefined) continue
      t.log(kind)
      const before = await sessionsEnded()
      await byHand(t, gateway, row)
      for (const carrier of row.carriers) await bySdk(t, gateway, carrier)
      t.true((await sessionsEnded()) > before)
      rows.push(row)
    }
    const last = await Promise.all(rows.map((row) => lastSession(gateway, row)))
    t.is(await gateway.end('SIGTERM'), 0)
    for (const peer of last) {
      await heard(peer, '"reason":"shutdown"')
      await ended(peer)
    }
  }),
)
