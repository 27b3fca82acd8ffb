// Method: real sockets on a port that the system chose, a store in memory, time under control.

import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { HELD_BYTES_MAX } from '#src/transports/carriers/framing'
import { HELLO_WITHIN_MS } from '#src/transports/signals'
import { certificateIn, serveTcp } from '#test/support/carrier-servers'
import type { CarrierServer, ServeOptions } from '#test/support/carrier-servers'
import { makeCertificate, withCertificate } from '#test/support/certificate'
import { framed, tcpPeer } from '#test/support/framed-client'
import { v2 } from '#test/support/proxy-header'
import { KEY, channel } from '#test/support/session-words'
import { until } from '#test/support/until'

const A = channel('A')
const HELLO = { type: 'hello', device_key: KEY }

const refused = ({ meter }: CarrierServer, reason: string): number =>
  meter.total(`connections_refused_total{tcp,${reason}}`)
const connections = ({ meter }: CarrierServer): number =>
  meter.gauges.get('device_connections{tcp}')?.() ?? -1

test('a device gets announced entries, acknowledges them, and leaves', async (t) => {
  const server = await serveTcp(t)
  const { bus, model, sessions, meter } = server
  const peer = await tcpPeer(t, server.port)
  peer.say(HELLO)
  await peer.hears('caught_up')
  bus.announce([model.commitMessage(A, { title: 'héllo' })])
  await peer.hears('"payload":{"title":"héllo"}')
  peer.say({ type: 'ack', channel_id: A, seq: 1 })
  for (const byte of framed('{"type":"ping","t":5}')) peer.raw(Buffer.from([byte]))
  await peer.hears('{"type":"pong","t":5}')
  t.is(meter.gauges.get('sessions{tcp}')?.(), 1)
  peer.leave()
  await until('the session is gone', () => sessions.count() === 0)
  t.is(bus.listening(A), 0)
  t.is(connections(server), 0)
})

test('a frame that is too big or no text ends the session with an error that says so', async (t) => {
  const rows: readonly (readonly [bytes: Buffer, code: string, reason: string])[] = [
    [framed('x'.repeat(65_537)), 'body_too_large', 'frame too big'],
    [Buffer.from('00000002c328', 'hex'), 'invalid_json_syntax', 'text frames only'],
  ]
  const server = await serveTcp(t)
  for (const [bytes, code, reason] of rows) {
    const peer = await tcpPeer(t, server.port)
    peer.say(HELLO)
    await peer.hears('caught_up')
    peer.raw(bytes)
    await peer.ends()
    t.regex(peer.heard.at(-1) ?? '', new RegExp(`"type":"error","code":"${code}"`))
    t.is(server.meter.total(`sessions_ended_total{tcp,${reason}}`), 1)
  }
})

test(
  'the listener accepts TLS with ALPN heliograph or with none, and with no other',
  withCertificate(async (t, certificate) => {
    const server = await serveTcp(t, { certificate: certificateIn(certificate) })
    const ca = certificate.pem
    for (const tls of [{ ca, ALPNProtocols: ['x', 'heliograph'] }, { ca }]) {
      const peer = await tcpPeer(t, server.port, tls)
      peer.say(HELLO)
      await peer.hears('caught_up')
    }
    await t.throwsAsync(tcpPeer(t, server.port, { ca, ALPNProtocols: ['h2'] }))
    const plain = await tcpPeer(t, server.port)
    plain.say(HELLO)
    await plain.ends()
    await until('both are counted', () => refused(server, 'failed_handshake') === 2)
  }),
)

/** Things that a connection may do instead of a hello. */
const STALLS: readonly (readonly [name: string, bytes: Buffer, options: ServeOptions])[] = [
  ['nothing', Buffer.alloc(0), {}],
  ['half a frame', framed(JSON.stringify(HELLO)).subarray(0, 20), {}],
  ['nothing, from a proxy', Buffer.alloc(0), { isTrustedProxy: () => true }],
  ['half a PROXY header', Buffer.from('PROXY TCP4 192.'), { isTrustedProxy: () => true }],
  ['a PROXY header alone', Buffer.from('PROXY UNKNOWN\r\n'), { isTrustedProxy: () => true }],
]

/** The connection is there until its eight seconds are over. */
async function endsLate(t: ExecutionContext, server: CarrierServer, bytes: Buffer): Promise<void> {
  const socket = connect(server.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let isClosed = false
  socket.on('close', () => (isClosed = true)).on('error', () => undefined)
  socket.resume()
  await once(socket, 'connect')
  socket.write(bytes)
  await until('a timer runs', () => server.time.waiting > 1 || server.carriers.length > 0)
  server.time.advance(HELLO_WITHIN_MS - 1)
  // The gateway has read everything by now; an answer would come on the same way.
  const other = await tcpPeer(t, server.port)
  t.false(isClosed)
  other.leave()
  server.time.advance(1_000)
  await until('the connection is closed', () => isClosed)
  await until('its slot is free', () => connections(server) === 0)
}

for (const [name, bytes, options] of STALLS) {
  test(`sockets/1: a connection that sends ${name} ends after 8 s`, async (t) => {
    const server = await serveTcp(t, options)
    await endsLate(t, server, bytes)
    t.is(server.sessions.count(), 0)
  })
}

test(
  'sockets/1: half a TLS handshake ends after 8 s',
  withCertificate(async (t, certificate) => {
    const server = await serveTcp(t, { certificate: certificateIn(certificate) })
    await endsLate(t, server, Buffer.from('1603010200', 'hex'))
    t.is(refused(server, 'late'), 1)
  }),
)

test('an address has at most its bound of connections, until one of them ends', async (t) => {
  const server = await serveTcp(t, { limits: { total: 10, perAddress: 2 } })
  const [one] = [await tcpPeer(t, server.port), await tcpPeer(t, server.port)]
  await until('both have slots', () => connections(server) === 2)
  const third = await tcpPeer(t, server.port)
  await third.ends()
  t.is(refused(server, 'rate_limited'), 1)
  one.leave()
  await until('its slot is free', () => connections(server) === 1)
  const fourth = await tcpPeer(t, server.port)
  fourth.say(HELLO)
  await fourth.hears('caught_up')
})

test('sockets/2: the listener takes the address of a PROXY header from a trusted proxy alone', async (t) => {
  const v1 = Buffer.from('PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\n')
  const second = v2(0x21, 0x11, [192, 0, 2, 8, 10, 0, 0, 1, 0, 80, 1, 187])
  const rows: readonly (readonly [header: Buffer, address: string])[] = [
    [v1, '192.0.2.7'],
    [second, '192.0.2.8'],
    [Buffer.from('PROXY UNKNOWN\r\n'), '127.0.0.1'],
    [Buffer.alloc(0), '127.0.0.1'],
  ]
  const trusting = await serveTcp(t, { isTrustedProxy: (address) => address === '127.0.0.1' })
  for (const [header, address] of rows) {
    const peer = await tcpPeer(t, trusting.port)
    // In two pieces, and with the hello behind it.
    const bytes = Buffer.concat([header, framed(JSON.stringify(HELLO))])
    peer.raw(bytes.subarray(0, 3))
    peer.raw(bytes.subarray(3))
    await peer.hears('caught_up')
    t.is(trusting.carriers.at(-1)?.address, address)
  }
  const other = await serveTcp(t)
  for (const header of [v1, second]) {
    const peer = await tcpPeer(t, other.port)
    peer.raw(header)
    await peer.ends()
    t.regex(peer.heard.at(-1) ?? '', /"code":"body_too_large"/)
    t.is(other.carriers.at(-1)?.address, '127.0.0.1')
  }
})

test('the listener cuts a trusted proxy with a broken PROXY header', async (t) => {
  const server = await serveTcp(t, { isTrustedProxy: () => true })
  const oversized = Buffer.from(`PROXY ${'x'.repeat(200)}`)
  for (const header of [oversized, v2(0x21, 0x11, [1, 2, 3])]) {
    const peer = await tcpPeer(t, server.port)
    peer.raw(header)
    await peer.ends()
  }
  t.is(refused(server, 'broken_proxy_header'), 2)
  t.is(server.carriers.length, 0)
})

test(
  'a PROXY header comes before TLS',
  withCertificate(async (t, certificate) => {
    const server = await serveTcp(t, {
      certificate: certificateIn(certificate),
      isTrustedProxy: () => true,
    })
    const { socket } = await tcpPeer(t, server.port)
    socket.removeAllListeners('data')
    socket.write('PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\n')
    const tls = connectTls({ socket, ca: certificate.pem })
    await once(tls, 'secureConnect')
    tls.write(framed(JSON.stringify(HELLO)))
    await once(tls, 'data')
    t.is(server.carriers.at(-1)?.address, '192.0.2.7')
  }),
)

test('framing/2: bytes held for a device that does not read are bounded; beyond that it is cut', async (t) => {
  const server = await serveTcp(t)
  const { socket } = await tcpPeer(t, server.port)
  await until('it is open', () => server.carriers.length === 1)
  socket.pause()
  const text = 'x'.repeat(524_288)
  let most = 0
  let held = server.carriers[0]?.send([text])
  for (let sent = 0; sent < 100 && typeof held === 'number'; sent += 1) {
    most = Math.max(most, held)
    held = server.carriers[0]?.send([text])
  }
  t.is(held, 'closed')
  t.true(most > 0 && most <= HELD_BYTES_MAX)
  await until('the session is gone', () => server.sessions.count() === 0)
})

test('tcp/1: the listener cuts a device that does not close its side 2 s after the end', async (t) => {
  const server = await serveTcp(t)
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  socket.resume()
  socket.on('error', () => undefined)
  socket.write(framed('no frame'))
  await once(socket, 'end')
  t.is(server.sessions.count(), 0)
  t.is(connections(server), 1)
  server.time.advance(2_000)
  await until('its slot is free', () => connections(server) === 0)
})

test(
  'new connections get a new certificate, and open sessions stay',
  withCertificate(async (t, first) => {
    const second = await makeCertificate(t)
    let files = first
    const server = await serveTcp(t, { certificate: () => certificateIn(files)() })
    const old = await tcpPeer(t, server.port, { ca: first.pem })
    old.say(HELLO)
    await old.hears('caught_up')
    files = { ...second, keyFile: first.keyFile }
    await t.throwsAsync(server.listener.reload())
    t.truthy(await tcpPeer(t, server.port, { ca: first.pem }))
    files = second
    await server.listener.reload()
    t.truthy(await tcpPeer(t, server.port, { ca: second.pem }))
    await t.throwsAsync(tcpPeer(t, server.port, { ca: first.pem }))
    old.say({ type: 'ping', t: 7 })
    await old.hears('{"type":"pong","t":7}')
  }),
)

test('the error of a taken port names the setting', async (t) => {
  const { port } = await serveTcp(t)
  const message = `cannot listen on 127.0.0.1 port ${port} (SERVICE_PRIVATE_TCP_ADDR): EADDRINUSE`
  await t.throwsAsync(serveTcp(t, { port }), { message })
})
