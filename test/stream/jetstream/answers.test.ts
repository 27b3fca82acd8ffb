// What the server says, in the forms of several versions.

import test from 'ava'
import { headers } from '@nats-io/transport-node'
import type { Msg } from '@nats-io/transport-node'

import { readAcknowledgement } from '#src/stream/jetstream/acknowledgement'
import type { Acknowledgement } from '#src/stream/jetstream/acknowledgement'
import { readDelivery } from '#src/stream/jetstream/delivery'
import { syncModeFrom } from '#src/stream/jetstream/probe'

const messageOf = (text: string): Msg => ({
  subject: '_INBOX.1',
  sid: 1,
  data: new TextEncoder().encode(text),
  headers: headers(503, 'No Responders'),
  respond: () => false,
  json: () => {
    throw new Error('not read this way')
  },
  string: () => text,
})

const ACKNOWLEDGEMENTS: readonly (readonly [text: string, kind: Acknowledgement['kind']])[] = [
  ['{"stream":"S","seq":7}', 'stored'],
  ['{"stream":"S","seq":7,"duplicate":true}', 'stored'],
  ['{"stream":"OTHER","seq":7}', 'not-now'],
  ['{"stream":"S","seq":0}', 'not-now'],
  ['{"stream":"S","seq":"7"}', 'not-now'],
  ['{"stream":"S"}', 'not-now'],
  ['', 'not-now'],
  ['+OK', 'not-now'],
  ['[]', 'not-now'],
  ['{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}}', 'full'],
  ['{"error":{"code":503,"err_code":10077,"description":"no space left on device"}}', 'not-now'],
  ['{"error":{"code":500,"err_code":10047,"description":"insufficient storage"}}', 'full'],
  ['{"error":{"code":503,"err_code":10008,"description":"system unavailable"}}', 'not-now'],
]

for (const [text, kind] of ACKNOWLEDGEMENTS) {
  test(`W1: the answer ${text || 'without a word'} means ${kind}`, (t) => {
    t.is(readAcknowledgement(messageOf(text), 'S').kind, kind)
  })
}

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
  test(`the reply subject "${reply}" ${isRead ? 'tells the place' : 'tells nothing'}`, (t) => {
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
