// Goal: a topic that means nothing is refused with its reason, and so is a payload that its topic
// does not take. What publishes become, the tests of the families say.

import test from 'ava'

import { isFault } from '#domain/fault'
import { LEVELS_MAX, TOPIC_BYTES_MAX } from '#src/mqtt/devices/topic'
import { translate } from '#src/mqtt/devices/translate'
import { connectionOf, publishOf } from '#test/support/device-publish'

/** Topic, payload, and the code of the refusal; UNMAPPED for a topic that nothing takes. */
const UNMAPPED = 'unmapped'
const refused: readonly (readonly [topic: string, payload: string | Buffer, code: string])[] = [
  ['', '', 'route_not_found'],
  ['things', '{}', UNMAPPED],
  ['things/', '{}', UNMAPPED],
  ['things/a/b', '{}', UNMAPPED],
  ['things/a/attrs/t/u', '1', UNMAPPED],
  ['things/a/archive/x', '', UNMAPPED],
  ['events', '{}', UNMAPPED],
  ['messages/x', 'm', UNMAPPED],
  ['constructor/a', '{}', UNMAPPED],
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
  test(`${topic.slice(0, 30)} with ${payload.toString().slice(0, 20)} is ${code}`, (t) => {
    const read = translate(publishOf(topic, payload), connectionOf())
    t.is(read === undefined ? UNMAPPED : isFault(read) ? read.code : 'taken', code)
  })
}
