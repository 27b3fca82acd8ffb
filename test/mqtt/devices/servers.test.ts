// Goal: what servers and controllers publish for devices becomes the right submissions, and what they never
// publish is refused with the member at fault.
// Method: one row a publish of a new connection: topic, payload, and what it becomes.

import { NO_BYTES, REFUSED, NO_OBJECT, testEach } from '#test/support/device-publish'
import type { PublishRow } from '#test/support/device-publish'

const up = {
  end_device_ids: { device_id: 'dev1', dev_eui: '0004A30B001C0530', dev_addr: '00BCB929' },
  received_at: '2020-02-12T15:15:46.014773143Z',
  uplink_message: { frm_payload: 'gkHe', decoded_payload: { temperature: 1.0, luminosity: 0.64 } },
}
const UP_AT = Date.UTC(2020, 1, 12, 15, 15, 46, 14)
const dev1 = { update: 'dev1', external_ids: { dev_eui: '0004A30B001C0530' } }
const stack = 'v3/app1@ttn/devices/dev1'
const chirp = 'application/17c82e96/device/0101010101010101/event'
const deviceInfo = { deviceName: 'Test device', devEui: '0101010101010101' }
const key = '3ac7e3c4-4401-4b8d-9386-a5c902f9202d'
const chirped = {
  update: '0101010101010101',
  title: 'Test device',
  external_ids: { dev_eui: '0101010101010101' },
}
const time = '2022-07-18T09:34:15.775023242+00:00'
const CHIRP_AT = Date.UTC(2022, 6, 18, 9, 34, 15, 775)
const lorawan: readonly PublishRow[] = [
  [`${stack}/up`, up, [{ ...dev1, attrs: { temperature: 1, luminosity: 0.64 }, at: UP_AT }]],
  [
    `${stack}/up`,
    { ...up, uplink_message: { frm_payload: 'gkHe' } },
    [{ ...dev1, attrs: { frm_payload: 'gkHe' }, at: UP_AT }],
  ],
  [`${stack}/up`, { ...up, uplink_message: {} }, [{ ...dev1, at: UP_AT }]],
  [`${stack}/up`, { received_at: 'x' }, 'validation_failed uplink_message'],
  [
    `${stack}/join`,
    { ...up, join_accept: {} },
    [{ ...dev1, attrs: { dev_addr: '00BCB929' }, at: UP_AT }],
  ],
  [`${stack}/down/sent`, '{}', []],
  [
    `${stack}/down/failed`,
    { ...up, downlink_failed: { error: { message_format: 'no downlink path' } } },
    [
      {
        message: 'dev1: downlink failed',
        title: 'dev1: downlink failed',
        body: 'no downlink path',
        thing: 'dev1',
        at: UP_AT,
      },
    ],
  ],
  [
    `${stack}/location/solved`,
    {
      received_at: up.received_at,
      location_solved: { location: { latitude: 48.2, longitude: 16.3 } },
    },
    [{ update: 'dev1', location_type: 'geo', location_value: '48.2,16.3', at: UP_AT }],
  ],
  [`${stack}/location/solved`, '{}', 'validation_failed location_solved.location'],
  [
    `${chirp}/up`,
    { deduplicationId: key, time, deviceInfo, data: 'qg==' },
    [{ ...chirped, attrs: { data: 'qg==' }, at: CHIRP_AT, key }],
  ],
  [
    `${chirp}/up`,
    { time, deviceInfo, data: 'qg==', object: { t: 21, deep: { x: 1 } } },
    [{ ...chirped, attrs: { t: 21, 'deep.x': 1 }, at: CHIRP_AT }],
  ],
  [
    `${chirp}/status`,
    { deduplicationId: key, time, deviceInfo, margin: 10, batteryLevel: 88.3 },
    [{ ...chirped, attrs: { margin: 10, batteryLevel: 88.3 }, at: CHIRP_AT, key }],
  ],
  [
    `${chirp}/log`,
    { time, deviceInfo, level: 'ERROR', code: 'UPLINK_MIC', description: 'MIC is invalid' },
    [
      {
        message: 'Test device: UPLINK_MIC',
        title: 'Test device: UPLINK_MIC',
        body: 'MIC is invalid',
        thing: '0101010101010101',
        at: CHIRP_AT,
      },
    ],
  ],
  [`${chirp}/log`, { time, deviceInfo, level: 'INFO', code: 'x' }, []],
  [
    `${chirp}/join`,
    { time, deviceInfo, devAddr: '00189440' },
    [{ ...chirped, attrs: { devAddr: '00189440' }, at: CHIRP_AT }],
  ],
  [`${chirp}/ack`, '{}', []],
  [`${chirp}/up`, '7', NO_OBJECT],
  [`${stack}/up`, NO_BYTES, REFUSED],
]

const boards: readonly PublishRow[] = [
  [
    'v1/devices/me/telemetry',
    '{"temperature":22.5,"humidity":61}',
    [{ update: 'client-1', attrs: { temperature: 22.5, humidity: 61 } }],
  ],
  ['v2/t', '{"temperature":22.5}', [{ update: 'client-1', attrs: { temperature: 22.5 } }]],
  [
    'v1/devices/me/telemetry',
    '{"ts":1451649600512,"values":{"temperature":22.5,"humidity":61}}',
    [{ update: 'client-1', attrs: { temperature: 22.5, humidity: 61 }, at: 1_451_649_600_512 }],
  ],
  [
    'v1/devices/me/telemetry',
    '[{"ts":1451649600000,"values":{"a":1}},{"ts":1451649601000,"values":{"a":2}}]',
    [
      { update: 'client-1', attrs: { a: 1 }, at: 1_451_649_600_000 },
      { update: 'client-1', attrs: { a: 2 }, at: 1_451_649_601_000 },
    ],
  ],
  [
    'v1/devices/me/attributes',
    '{"firmware":"1.2"}',
    [{ update: 'client-1', attrs: { firmware: '1.2' } }],
  ],
  [
    'v1/gateway/telemetry',
    '{"Device A":[{"ts":1483228800000,"values":{"temperature":42,"humidity":80}},{"ts":1483228801000,"values":{"temperature":43,"humidity":82}}],"Device-B":[{"ts":1483228800000,"values":{"temperature":42,"humidity":80}}]}',
    [
      {
        update: 'Device_A-d35c3c47',
        attrs: { temperature: 42, humidity: 80 },
        at: 1_483_228_800_000,
      },
      {
        update: 'Device_A-d35c3c47',
        attrs: { temperature: 43, humidity: 82 },
        at: 1_483_228_801_000,
      },
      { update: 'Device-B', attrs: { temperature: 42, humidity: 80 }, at: 1_483_228_800_000 },
    ],
  ],
  [
    'v1/gateway/connect',
    '{"device":"Device-B"}',
    [{ update: 'Device-B', title: 'Device-B', attrs: { online: true } }],
  ],
  [
    'v1/gateway/disconnect',
    '{"device":"Device-B"}',
    [{ update: 'Device-B', title: 'Device-B', attrs: { online: false } }],
  ],
  ['v1/devices/me/telemetry', '22.5', REFUSED],
  [
    'v1/devices/me/telemetry',
    '[{"ts":1,"values":{"a":1}},[{"a":2}]]',
    'validation_failed payload[1]',
  ],
  ['v1/devices/me/telemetry', '{"ts":1,"values":7}', 'validation_failed payload.values'],
  ['v1/gateway/telemetry', '{"A":[7]}', 'validation_failed payload.A[0]'],
  ['v1/gateway/connect', '{}', 'validation_failed device'],
  [
    'v1/devices/me/telemetry',
    JSON.stringify(Array.from({ length: 1_001 }, () => ({ a: 1 }))),
    REFUSED,
  ],
  ['v1/devices/me/telemetry', '[{"a":1},{"a":9007199254740993}]', 'validation_failed attrs'],
]

const after = {
  id: '1607123955.475377-mxklsc',
  camera: 'front_door',
  frame_time: 1_607_123_962.082975,
  label: 'person',
  top_score: 0.958984375,
  start_time: 1_607_123_955.475377,
  end_time: null,
  score: 0.87890625,
  current_zones: ['yard', 'driveway'],
  has_snapshot: false,
}
const seen = {
  thing: 'front_door',
  title: 'person at front_door',
  attrs: {
    label: 'person',
    score: 0.87890625,
    top_score: 0.958984375,
    current_zones: ['yard', 'driveway'],
    has_snapshot: false,
  },
  at: 1_607_123_962_082,
}
const id = '1607123955_475377-mxklsc-9e34d698'
const frigate: readonly PublishRow[] = [
  [
    'frigate/events',
    { type: 'new', before: {}, after },
    [{ 'event create': id, ...seen, started_at: 1_607_123_955_475 }],
  ],
  ['frigate/events', { type: 'update', before: {}, after }, [{ 'event update': id, ...seen }]],
  [
    'frigate/events',
    { type: 'end', before: {}, after: { ...after, end_time: 1_607_123_970.5 } },
    [{ 'event close': id, ...seen, ended_at: 1_607_123_970_500, at: 1_607_123_970_500 }],
  ],
  ['frigate/available', 'offline', [{ update: 'frigate', attrs: { online: false } }]],
  ['frigate/front_door/person', '1', [{ update: 'front_door', attrs: { person: 1 } }]],
  ['frigate/a/person', '', [{ update: 'a', attrs: { person: null } }]],
  ['frigate/front_door/detect/state', 'ON', [{ update: 'front_door', attrs: { detect: true } }]],
  // The camera sees motion, and its detection of motion is on.
  ['frigate/front_door/motion', 'OFF', [{ update: 'front_door', attrs: { motion: false } }]],
  [
    'frigate/front_door/motion/state',
    'ON',
    [{ update: 'front_door', attrs: { 'motion.state': true } }],
  ],
  [
    'frigate/front_door/person/active',
    '2',
    [{ update: 'front_door', attrs: { 'person.active': 2 } }],
  ],
  [
    'frigate/front_door/audio/dBFS',
    '-38.2',
    [{ update: 'front_door', attrs: { 'audio.dBFS': -38.2 } }],
  ],
  ['frigate/front_door/audio/state', 'ON', [{ update: 'front_door', attrs: { audio: true } }]],
  [
    'frigate/yard/classification/gate',
    'open',
    [{ update: 'yard', attrs: { 'classification.gate': 'open' } }],
  ],
  ['frigate/front_door/detect/set', 'ON', []],
  ['frigate/stats', '{}', []],
  ['frigate/front_door/person/snapshot', NO_BYTES, []],
  ['frigate/available', 'maybe', REFUSED],
  ['frigate/events', '{"type":"gone"}', 'validation_failed type'],
  ['frigate/events', '{"type":"constructor","after":{}}', 'validation_failed type'],
  ['frigate/events', '{"type":"new"}', 'validation_failed after'],
  ['frigate/events', '{"type":"new","after":{}}', 'validation_failed after.id'],
  ['frigate/events', '{"type":"new","after":{"id":"a"}}', 'validation_failed after.camera'],
]

testEach([...lorawan, ...boards, ...frigate])
