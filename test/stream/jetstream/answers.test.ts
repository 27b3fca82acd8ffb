// Goal: the gateway reads a server's answers in the forms of several versions.

import test from 'ava'
import { JetStreamApiError } from '@nats-io/jetstream'

import { readDelivery } from '#src/stream/jetstream/delivery'
import { syncModeFrom } from '#src/stream/jetstream/probe'
import { readRefusal } from '#src/stream/jetstream/refusal'
import type { Refusal } from '#src/stream/jetstream/refusal'

const REFUSALS: readonly (readonly [code: number, description: string, kind: Refusal['kind']])[] = [
  [10_071, 'wrong last sequence: 7', 'other-end'],
  [10_071, 'wrong last sequence: 0', 'other-end'],
  [10_071, 'wrong last sequence', 'inconclusive'],
  [10_164, 'wrong last sequence', 'inconclusive'],
  [10_077, 'maximum bytes exceeded', 'full'],
  [10_077, 'no space left on device', 'inconclusive'],
  [10_047, 'insufficient storage', 'full'],
  [10_008, 'system unavailable', 'inconclusive'],
]

for (const [code, description, kind] of REFUSALS) {
  test(`lane-writer/3: the server's error ${code} ${description} means ${kind}`, (t) => {
    const error = new JetStreamApiError({ code: 503, err_code: code, description })
    t.is(readRefusal(error).kind, kind)
  })
}

test('lane-writer/3: a timeout is inconclusive, and a missing leader has stored nothing', (t) => {
  t.is(readRefusal(new Error('timeout')).kind, 'inconclusive')
  t.is(readRefusal('text').kind, 'inconclusive')
  const noLeader = new Error('jetstream is not enabled')
  noLeader.name = 'JetStreamNotEnabled'
  t.is(readRefusal(noLeader).kind, 'no-leader')
})

const DELIVERY = { position: 42, count: 3, atMs: 1_700_000_000_123, pending: 5 }

const REPLIES: readonly (readonly [reply: string, isRead: boolean])[] = [
  ['$JS.ACK.S.C.1.42.3.1700000000123456789.5', true],
  ['$JS.ACK.domain.hash.S.C.1.42.3.1700000000123456789.5', true],
  ['$JS.ACK._.hash.S.C.1.42.3.1700000000123456789.5.random', true],
  ['$JS.ACK.S.C.1.x.3.1700000000123456789.5', false],
  ['$JS.ACK.S.C.1.42.3', false],
  ['$JS.FC.S.C.1.42.3.1700000000123456789.5', false],
  ['', false],
]

for (const [reply, isRead] of REPLIES) {
  test(`the reply subject "${reply}" has ${isRead ? 'a' : 'no'} position`, (t) => {
    t.deepEqual(readDelivery(reply), isRead ? DELIVERY : undefined)
  })
}

const REPORTS: readonly (readonly [report: unknown, mode: string])[] = [
  [{ server_id: 'A', jetstream: { config: { sync_always: true } } }, 'always'],
  [{ server_id: 'A', jetstream: { config: { sync_interval: 120_000_000_000 } } }, 'every 120 s'],
  [{ server_id: 'B', jetstream: { config: { sync_always: true } } }, 'unknown'],
  [{ server_id: 'A', jetstream: { config: {} } }, 'unknown'],
  [{ server_id: 'A' }, 'unknown'],
  ['text', 'unknown'],
]

for (const [report, mode] of REPORTS) {
  test(`the report ${JSON.stringify(report)} means sync ${mode}`, (t) => {
    t.is(syncModeFrom(report, 'A'), mode)
  })
}
