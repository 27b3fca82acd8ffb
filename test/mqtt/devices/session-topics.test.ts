// Goal: the gateway's own topics mean what the routes mean, and refuse what they cannot.
// Method: one row a publish: topic, payload, and the submissions or the refusal with its field.

import test from 'ava'

import { outcomeOf } from '#test/support/device-publish'
import type { Payload } from '#test/support/device-publish'

type Row = readonly [topic: string, payload: Payload, expected: readonly object[] | string]

const OBJECT = 'invalid_json_data payload'
const rows: readonly Row[] = [
  [
    'things/b1',
    '{"title":"Boiler","attrs":{"t":21.5}}',
    [{ update: 'b1', title: 'Boiler', attrs: { t: 21.5 } }],
  ],
  ['things/b1', '{"attrs":{"online":false}}', [{ update: 'b1', attrs: { online: false } }]],
  [
    'things/b1',
    '{"thing_id":"b1","observed_at":1767225600}',
    [{ update: 'b1', at: 1_767_225_600 }],
  ],
  ['things/b1', '{"channel_id":"C","password":"p","title":"x"}', [{ update: 'b1', title: 'x' }]],
  ['things/b1', '', []],
  ['things/b1', '{"thing_id":"b2"}', 'thing_id_mismatch thing_id'],
  ['things/b1', '[1]', OBJECT],
  ['things/b1', '{"title":', 'validation_failed payload'],
  ['things/b1/attrs', '{"t":21.5,"gone":null}', [{ update: 'b1', attrs: { t: 21.5, gone: null } }]],
  ['things/b1/attrs', '', []],
  ['things/b1/attrs', '21', OBJECT],
  ['things/b1/attrs/t', '21.5', [{ update: 'b1', attrs: { t: 21.5 } }]],
  ['things/b1/attrs/on', 'ON', [{ update: 'b1', attrs: { on: true } }]],
  ['things/b1/attrs/on', 'OFF', [{ update: 'b1', attrs: { on: false } }]],
  ['things/b1/attrs/on', 'offline', [{ update: 'b1', attrs: { on: false } }]],
  ['things/b1/attrs/on', 'true', [{ update: 'b1', attrs: { on: true } }]],
  ['things/b1/attrs/t', 'nan', [{ update: 'b1', attrs: { t: null } }]],
  ['things/b1/attrs/t', '', [{ update: 'b1', attrs: { t: null } }]],
  ['things/b1/attrs/t', 'null', [{ update: 'b1', attrs: { t: null } }]],
  ['things/b1/attrs/t', '"21"', [{ update: 'b1', attrs: { t: '21' } }]],
  ['things/b1/attrs/t', 'cold {', [{ update: 'b1', attrs: { t: 'cold {' } }]],
  ['things/b1/attrs/n', '9007199254740991', [{ update: 'b1', attrs: { n: 9007199254740991 } }]],
  ['things/b1/attrs/n', '9007199254740993', [{ update: 'b1', attrs: { n: '9007199254740993' } }]],
  ['things/b1/attrs/n', '1e999', [{ update: 'b1', attrs: { n: '1e999' } }]],
  ['things/b1/attrs/Inputs%2FA', '1', [{ update: 'b1', attrs: { 'Inputs/A': 1 } }]],
  ['things/b1/attrs/50%', '1', [{ update: 'b1', attrs: { '50%': 1 } }]],
  ['things/b1/attrs/t', '{"a":1}', OBJECT],
  ['things/b1/attrs/t', '[1]', OBJECT],
  ['things/b1/attrs/t', new Uint8Array([0xff]), 'validation_failed payload'],
  ['things/b1/attrs/t', 'a\0b', 'validation_failed payload'],
  ['things/b1/archive', '', [{ archive: 'b1' }]],
  ['things/b1/delete', '{"deleted_at":1767225600}', [{ delete: 'b1', deleted_at: 1_767_225_600 }]],
  ['things/b1/delete', 'now', 'validation_failed payload'],
  ['messages', 'Hello', [{ message: 'Notification', title: 'Notification', body: 'Hello' }]],
  ['messages', '42', [{ message: 'Notification', title: 'Notification', body: '42' }]],
  [
    'messages',
    ' {"title":"Hi","severity":"high"}',
    [{ message: 'Hi', title: 'Hi', severity: 'high' }],
  ],
  ['messages', '{"title":"Hi","thing_id":"b1"}', [{ message: 'Hi', title: 'Hi', thing: 'b1' }]],
  ['messages', '{"title":"Hi"', 'validation_failed payload'],
  ['messages', new Uint8Array([0xc3, 0x28]), 'validation_failed payload'],
  [
    'events/e1',
    '{"action":"create","title":"Leak","started_at":1767225600}',
    [{ 'event create': 'e1', title: 'Leak', started_at: 1_767_225_600 }],
  ],
  [
    'events/e1',
    '{"action":"update","event_time":1767225600}',
    [{ 'event update': 'e1', at: 1_767_225_600 }],
  ],
  [
    'events/e1',
    '{"action":"close","event_id":"e1","thing_id":"b1"}',
    [{ 'event close': 'e1', thing: 'b1' }],
  ],
  ['events/e1', '{"action":"close","event_id":"e2"}', 'validation_failed event_id'],
  ['events/e1', '{"title":"Leak"}', 'validation_failed action'],
  ['events/e1', '{"action":"open"}', 'validation_failed action'],
  ['events/e1', 'closed', 'validation_failed payload'],
  ['things', '{}', 'nothing takes the topic'],
  ['things//attrs', '{}', 'nothing takes the topic'],
  ['things/b1/attrs/a/b', '1', 'nothing takes the topic'],
  ['messages/x', 'Hi', 'nothing takes the topic'],
  ['', 'Hi', 'nothing takes the topic'],
]

for (const [topic, payload, expected] of rows) {
  const shown = payload instanceof Uint8Array ? 'bytes' : payload
  test(`${topic} with ${JSON.stringify(shown)}`, (t) => {
    t.deepEqual(outcomeOf([[topic, payload]]), expected)
  })
}
