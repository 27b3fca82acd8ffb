// Goal: a topic that means nothing is refused with its reason, and so is a payload that its topic
// does not take. What publishes become, the tests of the families say.

import test from 'ava'

import { isFault } from '#domain/fault'
import { NO_STATE } from '#src/mqtt/devices/family-state'
import { LEVELS_MAX, TOPIC_BYTES_MAX, readPublish } from '#src/mqtt/topics'

const NOW = 1_763_684_000_123
const CONNECTION = { sender: { thingId: 'own', mappings: [] }, state: NO_STATE }

/** Topic, payload, and the code of the refusal. */
const refused: readonly (readonly [topic: string, payload: string | Buffer, code: string])[] = [
  ['', '', 'route_not_found'],
  ['things', '{}', 'route_not_found'],
  ['things/', '{}', 'route_not_found'],
  ['things/a/b', '{}', 'route_not_found'],
  ['things/a/attrs/t/u', '1', 'route_not_found'],
  ['things/a/archive/x', '', 'route_not_found'],
  ['events', '{}', 'route_not_found'],
  ['messages/x', 'm', 'route_not_found'],
  ['constructor/a', '{}', 'route_not_found'],
  ['things/+', '{}', 'route_not_found'],
  ['things/#', '{}', 'route_not_found'],
  ['things/a\0', '{}', 'route_not_found'],
  [`things/${'a'.repeat(129)}`, '{}', 'route_not_found'],
  [Array.from({ length: LEVELS_MAX + 1 }, () => 'a').join('/'), '{}', 'route_not_found'],
  [`things/a/attrs/${'a/'.repeat(TOPIC_BYTES_MAX / 2)}`, '1', 'route_not_found'],
  ['things/a', 'on', 'validation_failed'],
  ['things/a', '[1]', 'invalid_json_data'],
  ['things/a', '{"thing_id":"b"}', 'thing_id_mismatch'],
  ['things/a/attrs', '5', 'invalid_json_data'],
  ['things/a/attrs/t', '{"x":1}', 'invalid_json_data'],
  ['things/a/attrs/t', Buffer.from([0xff]), 'validation_failed'],
  ['messages', Buffer.from([0xff]), 'validation_failed'],
  ['events/e', '{}', 'validation_failed'],
  ['events/e', '{"action":"toString"}', 'validation_failed'],
]

for (const [topic, payload, code] of refused) {
  test(`topics/1: ${topic.slice(0, 30)} with ${payload.toString().slice(0, 20)} is ${code}`, (t) => {
    const read = readPublish(
      { topic, payload: Buffer.from(payload), receivedAtMs: NOW },
      CONNECTION,
    )
    t.is(isFault(read) ? read.code : 'taken', code)
  })
}
