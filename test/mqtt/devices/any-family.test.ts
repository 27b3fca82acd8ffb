// Goal: whatever any family makes of hostile publishes is within the bounds of a publish.
// Method: payloads at random on every family: many members, long names around them, lists, texts
// that stand for others. Sizes are counted, no time is taken.

import test from 'ava'
import * as fc from 'fast-check'

import { isFault } from '#domain/fault'
import { PUBLISH_BYTES_MAX, translate } from '#src/mqtt/devices/translate'
import { WISHES_MAX } from '#src/mqtt/devices/wishes'
import {
  STATE_BOUNDS,
  connectionOf,
  mapped,
  objectOf,
  publishOf,
} from '#test/support/device-publish'
import { sparkplugBytes } from '#test/support/sparkplug'

const WISH_BYTES_MAX = 32_768
const CONFIG = 'homeassistant/sensor/a/config'
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

const LONG = 'l'.repeat(128)
const TOPICS = [
  'things/a', 'things/a/attrs', `things/a/attrs/${LONG}`, 'messages', 'events/e',
  'tele/a/SENSOR', `tele/${LONG}/${LONG}/STATE`, 'tasmota/discovery/a/config',
  'zigbee2mqtt/a', 'zigbee2mqtt/bridge/devices', 'zigbee2mqtt/bridge/event', 'zigbee2mqtt/bridge/logging',
  `${LONG}/sensor/${LONG}/${'p'.repeat(100)}/state`, 'esphome/discover/a',
  'a/events/rpc', `a/status/${'c'.repeat(128)}`, 'shellies/announce', `shellies/a/${LONG}/${LONG}/${'n'.repeat(100)}`,
  CONFIG, 'homeassistant/device/a/config', `homeassistant/sensor/${LONG}/state`,
  'homie/5/a/$description', 'homie/5/a/$state', 'homie/5/a/b/c',
  'v3/a/devices/b/up', 'application/a/device/b/event/up', 'application/a/device/b/event/status', 'application/a/device/b/event/log',
  'v1/devices/me/telemetry', 'v1/gateway/telemetry', 'v1/gateway/connect', 'frigate/events', 'frigate/a/b',
  'spBv1.0/STATE/h', 'spBv1.0/g/NBIRTH/e', 'spBv1.0/g/DBIRTH/e/d', 'spBv1.0/g/NDATA/e', 'spBv1.0/g/NDEATH/e',
  'mapped/a', 'text/a', 'd/e',
] // oxfmt-ignore

/** Members that a reader looks into, so that what is hostile gets behind the first check. */
const WAYS = [
  [], ['ZbReceived'], ['params'], ['params', 'events'], ['after'], ['nodes', 'n', 'properties'], ['cmps'],
  ['dev'], ['uplink_message', 'decoded_payload'], ['object'], ['a device'], ['data'],
] as const // oxfmt-ignore
const SAID = {
  method: 'NotifyEvent', type: 'new', id: 'i', camera: 'c', component: 'c', event: 'e', level: 'ERROR', action: 'create',
  friendly_name: 'f', '~': "d/$'", stat_t: '~', state_topic: 'd/e', root: 'a', title: 't', datatype: 'json', unit: '°C', ts: 1,
} as const // oxfmt-ignore

const hostile = fc.oneof(
  fc.constantFrom(1, "$'", '~', null, NaN, '', [], {}, SAID, LONG, 'x'.repeat(3_000)),
  fc
    .nat(9)
    .map((levels) => Array.from({ length: levels }).reduce((inner) => ({ [LONG]: inner }), 1)),
)
const many = fc
  .tuple(fc.nat(3_000), fc.constantFrom('', 'name ', 'x'.repeat(127)), hostile)
  .map(([count, name, value]) => objectOf(count, (n) => `${name}${n}`, value))
const list = fc
  .tuple(fc.nat(1_200), hostile)
  .map(([length, value]) => Array.from({ length }, () => value))
const inner = fc.oneof(
  hostile,
  many,
  list,
  many.map((one) => ({ [LONG.slice(1)]: one })),
)
const json = fc.tuple(fc.constantFrom(...WAYS), inner, fc.boolean()).map(([way, value, isSaid]) => {
  const within = way.reduceRight<unknown>((some, name) => ({ ...SAID, [name]: some }), value)
  return Buffer.from(
    JSON.stringify(isSaid && !Array.isArray(within) ? { ...SAID, ...(within as object) } : within),
  )
})
const sparkplug = fc
  .tuple(fc.nat(1_500), fc.constantFrom('m', LONG, 'x'.repeat(500)), fc.boolean())
  .map(([count, name, isTimed]) =>
    sparkplugBytes({
      seq: 0n,
      metrics: Array.from({ length: count }, (_, index) => ({
        name: `${name}${index}`,
        alias: BigInt(index),
        datatype: 3,
        value: { case: 'intValue', value: index },
        ...(isTimed && { timestamp: BigInt(1_700_000_000_000 + index) }),
      })),
    }),
  )
const publish = fc
  .constantFrom(...TOPICS)
  .chain((topic) =>
    fc.tuple(
      fc.constant(topic),
      topic.includes('BIRTH') || topic.includes('DATA')
        ? sparkplug
        : fc.oneof({ arbitrary: json, weight: 9 }, { arbitrary: fc.uint8Array(), weight: 1 }),
    ),
  )

test('translate/1, family-state/1: what any family makes of hostile publishes is within the bounds', (t) => {
  const mappings = mapped([
    { topic: 'mapped/+x', thing: '{x}', prefix: 'p'.repeat(512), time: 'a.b' },
    { topic: 'text/+x', thing: '{x}', kind: 'message' },
  ])
  let [most, largest] = [0, 0]
  fc.assert(
    fc.property(fc.array(publish, { minLength: 1, maxLength: 3 }), (sent) => {
      const connection = connectionOf(mappings)
      for (const [topic, payload] of sent) {
        const outcome = translate(publishOf(topic, payload), connection)
        if (connection.state.bytes > STATE_BOUNDS.perState) return false
        if (outcome === undefined || isFault(outcome)) continue
        const sizes = outcome.wishes.map(({ fields }) => bytesOf(fields))
        const sum = sizes.reduce((total, size) => total + size, 0)
        most = Math.max(most, sizes.length)
        largest = Math.max(largest, sum / (payload.length + 100))
        if (sizes.length > WISHES_MAX || sizes.some((size) => size > WISH_BYTES_MAX)) return false
        // A small payload may name much, but no more than one submission holds.
        if (sum > PUBLISH_BYTES_MAX || sum > WISH_BYTES_MAX + 64 * payload.length) return false
        if (outcome.replies.length > 1) return false
      }
      return true
    }),
    { numRuns: 200 },
  )
  t.true(most > 100 && largest > 1, 'nothing hostile got through to a submission')
})
