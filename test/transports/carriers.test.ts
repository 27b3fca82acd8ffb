// Goal: whatever bytes a device sends, it ends no session but its own, on any carrier.
// Method: frames near the grammar and raw bytes, against real sockets, beside a session that must
// not notice.

import * as fc from 'fast-check'
import test from 'ava'

import { CARRIERS } from '#domain/carrier'
import { SERVE } from '#test/support/carrier-servers'
import { withCertificate } from '#test/support/certificate'
import type { Peer } from '#test/support/framed-client'
import { KEY, channel } from '#test/support/session-words'
import { until } from '#test/support/until'

const RUNS = 40
const HELLO = { type: 'hello', device_key: KEY }
/** The attacker's own: who knows the key of the healthy device may replace its session. */
const OWN_KEY = '2'.repeat(32)
const ANOTHER = { type: 'hello', device_key: OWN_KEY }

/** Members that frames have, with values that they may have and others. */
const member = fc.record(
  {
    type: fc.oneof(fc.constantFrom('hello', 'ack', 'ping', 'pong', 'deliver', ''), fc.anything()),
    device_key: fc.oneof(fc.constantFrom(OWN_KEY, '0'.repeat(32)), fc.anything()),
    gateway_token: fc.oneof(fc.string(), fc.anything()),
    cursors: fc.oneof(fc.dictionary(fc.constantFrom(channel('A'), 'x'), fc.nat()), fc.anything()),
    channel_id: fc.oneof(fc.constantFrom(channel('A'), channel('B')), fc.anything()),
    seq: fc.oneof(fc.nat(), fc.double(), fc.anything()),
    t: fc.anything(),
  },
  { requiredKeys: [] },
)

const json = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return '{"type":'
  }
}

type Attack =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'raw'; readonly bytes: Uint8Array }

const attack: fc.Arbitrary<Attack> = fc.oneof(
  { weight: 3, arbitrary: member.map((value) => ({ kind: 'text' as const, text: json(value) })) },
  fc.json().map((text) => ({ kind: 'text' as const, text })),
  fc.string().map((text) => ({ kind: 'text' as const, text })),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => ({ kind: 'raw' as const, bytes })),
)

function commit(peer: Peer, one: Attack): void {
  if (one.kind === 'text') peer.say(one.text)
  else peer.raw(one.bytes)
}

for (const kind of CARRIERS) {
  test(
    `${kind}: whatever a device sends ends in an error, a close or nothing, for it alone`,
    withCertificate(async (t, certificate) => {
      const { server, connect } = await SERVE[kind](t, certificate)
      const healthy = await connect()
      healthy.say(HELLO)
      await healthy.hears('caught_up')
      let mark = 0
      const property = fc.asyncProperty(
        fc.boolean(),
        fc.array(attack, { minLength: 1, maxLength: 8 }),
        async (isWelcomed, attacks) => {
          const peer = await connect()
          if (isWelcomed) peer.say(ANOTHER)
          for (const each of attacks) commit(peer, each)
          mark += 1
          healthy.say({ type: 'ping', t: mark })
          await healthy.hears(`{"type":"pong","t":${mark}}`)
          server.time.advance(1_000) // The bucket of the healthy one fills again.
          peer.leave()
          await until('only the healthy one is left', () => server.sessions.count() === 1)
          return !healthy.isClosed
        },
      )
      await t.notThrowsAsync(fc.assert(property, { numRuns: RUNS }))
      t.is(server.meter.total(`sessions_ended_total{${kind},internal error}`), 0)
    }),
  )
}
