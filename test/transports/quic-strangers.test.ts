// Method: first packets of QUIC that a stranger makes by hand, over a real socket. Each row was seen
// to make a connection of the library that nothing counted, unless it says otherwise.

import test from 'ava'

import { TOKEN_MS } from '#src/transports/carriers/quic/retry-tokens'
import type { CarrierServer } from '#test/support/carrier-servers'
import { serveQuic } from '#test/support/carrier-servers'
import { withCertificate } from '#test/support/certificate'
import { quicPeer } from '#test/support/framed-client'
import { Stranger, altered, broken, madeAt } from '#test/support/quic-stranger'
import { until } from '#test/support/until'
import { KEY } from '#test/support/session-words'

/** A frame that no client may send. */
const HANDSHAKE_DONE = Buffer.from([0x1e])
const HELLO = { type: 'hello', device_key: KEY }

interface Attack {
  readonly stranger: Stranger
  readonly server: CarrierServer
  /** A stranger at another address. */
  readonly other: Stranger
}

const ATTACKS: readonly (readonly [
  name: string,
  packet: (attack: Attack) => Promise<Buffer>,
  refused: number,
])[] = [
  [
    'a packet with a token that does not open',
    async ({ stranger }) => broken(stranger.packet(await stranger.ticket())),
    1,
  ],
  [
    'a token with another connection ID',
    async ({ stranger }) => {
      const [first, second] = [await stranger.ticket(), await stranger.ticket()]
      return stranger.packet({ id: second.id, token: first.token })
    },
    1,
  ],
  [
    'a token that is older than 10 s',
    async ({ stranger, server }) => {
      const ticket = await stranger.ticket()
      server.time.advance(TOKEN_MS + 1)
      return stranger.packet(ticket)
    },
    1,
  ],
  // These made no connection before either: the token of another address, and one out of thin air.
  [
    'a token of another address',
    async ({ stranger, other }) => stranger.packet(await other.ticket()),
    1,
  ],
  [
    'a token out of thin air',
    async ({ stranger }) =>
      stranger.packet({ id: Buffer.alloc(20, 7), token: Buffer.alloc(60, 9) }),
    1,
  ],
  // Early data made the library throw; a short datagram got an answer that was longer.
  [
    'early data',
    async ({ stranger }) => altered(stranger.packet(await stranger.ticket()), 0xd0),
    0,
  ],
  [
    'a short datagram',
    async ({ stranger }) => stranger.packet(await stranger.ticket()).subarray(0, 1_100),
    0,
  ],
]

for (const [name, packetOf, refused] of ATTACKS) {
  test(
    `quic/3, retry-tokens/1: ${name} makes no connection`,
    withCertificate(async (t, certificate) => {
      const server = await serveQuic(t, certificate)
      const { port, meter } = server
      const stranger = await Stranger.at(t, port)
      const other = await Stranger.at(t, port, '127.0.0.2')
      const packet = await packetOf({ stranger, server, other })
      for (let count = 0; count < 20; count += 1) stranger.send(packet)
      const peer = await quicPeer(t, port)
      peer.say(HELLO)
      await peer.hears('caught_up')
      t.is(madeAt(port), 1) // the peer's
      t.is(meter.gauges.get('device_connections{quic}')?.(), 1)
      t.is(meter.total('connections_refused_total{quic,failed_handshake}'), 20 * refused)
    }),
  )
}

test(
  'quic/2: unfinished handshakes take slots, of an address and in all; a failed one frees its own',
  withCertificate(async (t, certificate) => {
    const limits = { total: 3, perAddress: 2 }
    const { port, meter } = await serveQuic(t, certificate, { limits })
    const connections = (): number => meter.gauges.get('device_connections{quic}')?.() ?? -1
    const refused = (reason: string): number =>
      meter.total(`connections_refused_total{quic,${reason}}`)
    const strangers = [await Stranger.at(t, port), await Stranger.at(t, port, '127.0.0.2')]
    for (const [index, stranger] of strangers.entries()) {
      for (let count = 0; count < 3; count += 1) {
        stranger.send(stranger.packet(await stranger.ticket()))
      }
      await until('each is counted', () => connections() === 2 + index)
    }
    await until('one of them is refused', () => refused('rate_limited') === 1)
    await until('the others are, too', () => refused('server_busy') === 2)
    t.is(madeAt(port), 3)
  }),
)

test(
  'quic/4: an address has at most 100 connections without a stream',
  withCertificate(async (t, certificate) => {
    const { port, meter } = await serveQuic(t, certificate)
    const stranger = await Stranger.at(t, port)
    for (let count = 0; count < 101; count += 1) {
      stranger.send(stranger.packet(await stranger.ticket()))
    }
    const refusals = 'connections_refused_total{quic,rate_limited}'
    await until('one is refused', () => meter.total(refusals) === 1)
    t.is(madeAt(port), 100)
  }),
)

test(
  'quic/2: a handshake that fails frees its slot',
  withCertificate(async (t, certificate) => {
    const { port, meter } = await serveQuic(t, certificate)
    const stranger = await Stranger.at(t, port)
    stranger.send(stranger.packet(await stranger.ticket(), HANDSHAKE_DONE))
    const refusals = 'connections_refused_total{quic,failed_handshake}'
    await until('it has failed', () => meter.total(refusals) === 1)
    t.is(madeAt(port), 1)
    t.is(meter.gauges.get('device_connections{quic}')?.(), 0)
  }),
)
