// Method: real sockets, a store in memory, time turned by hand. The peer is the library's own
// client; test/stories/carriers.test.ts has one of another implementation.

import { X509Certificate } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

import test from 'ava'

import { HELLO_WITHIN_MS } from '#src/transports/signals'
import { certificateIn, serveQuic } from '#test/support/carrier-servers'
import { makeCertificate, withCertificate } from '#test/support/certificate'
import { framed, quicClient, quicPeer } from '#test/support/framed-client'
import { KEY, channel } from '#test/support/session-words'
import { until } from '#test/support/until'

const A = channel('A')
const HELLO = { type: 'hello', device_key: KEY }

test(
  'a device gets announced entries, acknowledges them, and leaves',
  withCertificate(async (t, certificate) => {
    const { bus, model, sessions, meter, port } = await serveQuic(t, certificate)
    const peer = await quicPeer(t, port)
    peer.say(HELLO)
    await peer.hears('caught_up')
    bus.announce([model.commitMessage(A, { title: 'x'.repeat(50_000) })])
    await peer.hears('"payload":{"title":"xxx')
    peer.say({ type: 'ack', channel_id: A, seq: 1 })
    for (const byte of framed('{"type":"ping","t":5}')) peer.raw(Buffer.from([byte]))
    await peer.hears('{"type":"pong","t":5}')
    t.is(meter.gauges.get('sessions{quic}')?.(), 1)
    await until('all has left', () => meter.gauges.get('session_buffered_bytes')?.() === 0)
    peer.leave()
    await until('the session is gone', () => sessions.count() === 0)
    t.is(bus.listening(A), 0)
    await until('its slot is free', () => meter.gauges.get('device_connections{quic}')?.() === 0)
  }),
)

test(
  'device-stream/1: a session that ends sends its reason, ends the stream and then the connection',
  withCertificate(async (t, certificate) => {
    const { port, time, meter } = await serveQuic(t, certificate)
    const peer = await quicPeer(t, port)
    peer.raw(framed('x'.repeat(65_537)).subarray(0, 100))
    await peer.ends()
    t.regex(peer.heard[0] ?? '', /"code":"body_too_large"/)
    time.advance(1_000)
    await until('its slot is free', () => meter.gauges.get('device_connections{quic}')?.() === 0)
  }),
)

test(
  'quic/1: a connection without a stream ends after 8 s, and a device has one stream',
  withCertificate(async (t, certificate) => {
    const { port, time, meter } = await serveQuic(t, certificate)
    const connections = (): number => meter.gauges.get('device_connections{quic}')?.() ?? -1
    const { connection } = await quicClient(t, port)
    await until('it is open', () => connections() === 1)
    connection.newStream('bidi')
    t.throws(() => connection.newStream('bidi'), { message: /limit of/ })
    t.throws(() => connection.newStream('uni'), { message: /limit of/ })
    time.advance(HELLO_WITHIN_MS - 1)
    t.is(connections(), 1)
    time.advance(1)
    await until('it is closed', () => connections() === 0)
    t.is(meter.total('connections_refused_total{quic,late}'), 1)
  }),
)

test(
  'quic/5: a connection counts with what the library may hold, and its unfinished frame beside it',
  withCertificate(async (t, certificate) => {
    const { port, meter } = await serveQuic(t, certificate)
    const arriving = (): number => meter.gauges.get('device_arriving_bytes{quic}')?.() ?? -1
    t.is(arriving(), 0)
    const peer = await quicPeer(t, port)
    peer.say(HELLO)
    await peer.hears('welcome')
    t.is(arriving(), 16_384)
    peer.raw(framed('x'.repeat(60_000)).subarray(0, 50_000))
    await until('the whole of it counts', () => arriving() >= 16_384 + 50_000 - 4)
    t.true(arriving() <= 16_384 + 60_000)
    peer.leave()
    await until('nothing counts', () => arriving() === 0)
  }),
)

test(
  'the listener refuses connections of one address beyond its bound',
  withCertificate(async (t, certificate) => {
    const limits = { total: 1, perAddress: 10 }
    const { port, meter, sessions } = await serveQuic(t, certificate, { limits })
    const first = await quicPeer(t, port)
    first.say(HELLO)
    await first.hears('caught_up')
    await t.throwsAsync(quicClient(t, port), { message: 'Peer closed with transport code 2' })
    t.is(meter.total('connections_refused_total{quic,server_busy}'), 1)
    t.is(sessions.count(), 1)
  }),
)

test(
  'new connections get a new certificate, and open sessions stay',
  withCertificate(async (t, first) => {
    const second = await makeCertificate(t)
    let files = first
    const { port, listener } = await serveQuic(t, first, {
      certificate: () => certificateIn(files)(),
    })
    const shown = async (): Promise<string> => {
      const [der = new Uint8Array()] = (await quicClient(t, port)).connection.getRemoteCertsChain()
      return new X509Certificate(der).fingerprint256
    }
    const old = await quicPeer(t, port)
    old.say(HELLO)
    await old.hears('caught_up')
    t.is(await shown(), new X509Certificate(first.pem).fingerprint256)
    files = second
    await listener.reload()
    t.is(await shown(), new X509Certificate(second.pem).fingerprint256)
    old.say({ type: 'ping', t: 7 })
    await old.hears('{"type":"pong","t":7}')
  }),
)

test(
  'the listener drops datagrams that are no QUIC',
  withCertificate(async (t, certificate) => {
    const { port, sessions } = await serveQuic(t, certificate)
    const socket = createSocket('udp4')
    t.teardown(() => socket.close())
    const rows = ['', '00', 'c0ff', 'c000000001', `c3${'00'.repeat(1_300)}`, '40'.repeat(600)]
    for (const hex of rows) {
      socket.send(Buffer.from(hex, 'hex'), port, '127.0.0.1')
    }
    const peer = await quicPeer(t, port)
    peer.say(HELLO)
    await peer.hears('caught_up')
    t.is(sessions.count(), 1)
  }),
)

test(
  'the error of a taken port names the setting',
  withCertificate(async (t, certificate) => {
    const taken = createSocket('udp4')
    t.teardown(() => taken.close())
    taken.bind(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address()
    const message = `cannot listen on 127.0.0.1 port ${port} (SERVICE_PRIVATE_QUIC_ADDR): EADDRINUSE`
    await t.throwsAsync(serveQuic(t, certificate, { port }), { message })
  }),
)

// Each address that cannot be had, and the reason.
const UNUSABLE: readonly (readonly [host: string, reason: string])[] = [
  ['203.0.113.1', 'EADDRNOTAVAIL'],
  ['nowhere.invalid', 'ErrorQUICHostInvalid'],
]

for (const [host, reason] of UNUSABLE) {
  test(
    `the error of the address ${host} gives the reason ${reason} and names the setting`,
    withCertificate(async (t, certificate) => {
      const message = `cannot listen on ${host} port 5223 (SERVICE_PRIVATE_QUIC_ADDR): ${reason}`
      await t.throwsAsync(serveQuic(t, certificate, { host, port: 5223 }), { message })
    }),
  )
}
