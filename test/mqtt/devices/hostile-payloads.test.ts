// Goal: nothing that a device can send makes a crash, takes much memory, or is taken by halves.
// Method: bytes and JSON at random on every topic, and payloads made for harm.

import test from 'ava'
import * as fc from 'fast-check'

import { isFault } from '#domain/fault'
import { translate } from '#src/mqtt/devices/translate'
import { ARRIVED, connectionOf, outcomeOf, publishOf } from '#test/support/device-publish'

const TOPICS = [
  'things/a',
  'things/a/attrs',
  'things/a/attrs/b',
  'things/a/delete',
  'messages',
  'events/e',
  'tele/a/SENSOR',
  'stat/a/POWER',
  'tele/a/LWT',
  'tasmota/discovery/a/config',
  'zigbee2mqtt/a',
  'zigbee2mqtt/bridge/devices',
  'zigbee2mqtt/bridge/event',
  'zigbee2mqtt/bridge/logging',
  'zigbee2mqtt/a/availability',
  'a/status',
  'a/sensor/b/state',
  'esphome/discover/a',
  'a/online',
  'a/events/rpc',
  'a/status/switch:0',
  'shellies/announce',
  'shellies/a/relay/0',
  'homeassistant/sensor/a/config',
  'homeassistant/device/a/config',
  'homeassistant/sensor/a/state',
  'homie/5/a/$state',
  'homie/5/a/$description',
  'homie/5/a/b/c',
  'v3/a/devices/b/up',
  'v3/a/devices/b/location/solved',
  'application/a/device/b/event/up',
  'application/a/device/b/event/log',
  'v1/devices/me/telemetry',
  'v1/gateway/telemetry',
  'v1/gateway/connect',
  'frigate/events',
  'frigate/a/b',
  'spBv1.0/STATE/h',
  'spBv1.0/g/NBIRTH/e',
  'spBv1.0/g/DBIRTH/e/d',
  'spBv1.0/g/NDATA/e',
  'spBv1.0/g/NDEATH/e',
  'spBv1.0/g/DDEATH/e/d',
]

/** Names that readers look for, so that random objects get behind the first check. */
const NAMES = [
  'params',
  'method',
  'events',
  'type',
  'after',
  'id',
  'camera',
  'device',
  'ts',
  'values',
  'nodes',
  'properties',
  'state_topic',
  '~',
  'components',
  'device',
  'identifiers',
  'uplink_message',
  'time',
  'decoded_payload',
  'location_solved',
  'location',
  'deviceInfo',
  'object',
  'Time',
  'ZbReceived',
  'friendly_name',
  'definition',
  'action',
  '__proto__',
  'constructor',
]

test('no payload on any topic makes a crash, and none is taken by halves', (t) => {
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom('NotifyEvent', 'NotifyStatus', 'new', 'end', 'a/sensor/b/state', ARRIVED),
      fc.dictionary(fc.constantFrom(...NAMES), tie('tree'), { maxKeys: 5 }),
      fc.array(tie('tree'), { maxLength: 3 }),
    ),
  }))
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    tree.map((value) => Buffer.from(JSON.stringify(value))),
    fc
      .tuple(tree, fc.nat(80))
      .map(([value, at]) => Buffer.from(JSON.stringify(value)).subarray(0, at)),
  )
  const publish = fc.tuple(fc.constantFrom(...TOPICS), payload)
  fc.assert(
    fc.property(fc.array(publish, { maxLength: 4 }), (sent) => {
      const connection = connectionOf()
      for (const [topic, bytes] of sent) {
        const outcome = translate(publishOf(topic, bytes), connection)
        if (isFault(outcome)) t.truthy(outcome.field)
      }
    }),
    { numRuns: 3_000 },
  )
})

test('a payload nested ten thousand deep is read, and refused by its depth where it is checked', (t) => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  for (const topic of TOPICS) {
    for (const payload of [
      deep,
      `{"a":${deep}}`,
      `{"a":`.repeat(10_000) + '1' + '}'.repeat(10_000),
    ]) {
      const outcome = translate(publishOf(topic, payload), connectionOf())
      t.true(outcome === undefined || isFault(outcome) || outcome.wishes.length <= 2, topic)
    }
  }
})

test('payload/3: a long name around many members is not repeated by each of them', (t) => {
  const members = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`m${index}`, 0]))
  const long = { ['x'.repeat(128)]: members, short: { a: 1 } }
  t.deepEqual(outcomeOf([['v2/t', long]]), [
    { update: 'client-1', attrs: { ['x'.repeat(128)]: members, 'short.a': 1 } },
  ])
  t.is(outcomeOf([['v2/t', { ['x'.repeat(127)]: members }]]), 'body_too_large payload')
})
