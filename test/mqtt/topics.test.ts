// Goal: each topic and payload becomes its submission, or a fault that says why.

import test from 'ava'

import { isFault } from '#domain/fault'
import { LEVELS_MAX, PAYLOAD_BYTES_MAX, TOPIC_BYTES_MAX, readOwnTopic } from '#src/mqtt/topics'

const NOW = 1_763_684_000_123
const AT = { observed_at: NOW }
const A = { thing_id: 'a', ...AT }

const thing = (fields: object) => ['thing update', { ...A, ...fields }] as const
const attrs = (set: object) => thing({ attrs: set })

/** Topic, payload, and intent with fields. */
const taken: readonly (readonly [
  topic: string,
  payload: string,
  wish: readonly [string, object],
])[] = [
  ['things/a', '{"title":"A","attrs":{"t":1}}', thing({ title: 'A', attrs: { t: 1 } })],
  ['things/a', '{"observed_at":5,"thing_id":"a"}', thing({ observed_at: 5 })],
  ['things/a/attrs', '{"t":20.5,"on":null}', attrs({ t: 20.5, on: null })],
  ['things/a/attrs/t', '20.5', attrs({ t: 20.5 })],
  ['things/a/attrs/t', '-1e3', attrs({ t: -1000 })],
  ['things/a/attrs/t', '"20"', attrs({ t: '20' })],
  ['things/a/attrs/t', 'warm', attrs({ t: 'warm' })],
  ['things/a/attrs/t', '', attrs({ t: null })],
  ['things/a/attrs/t', 'NaN', attrs({ t: null })],
  ['things/a/attrs/t', 'null', attrs({ t: null })],
  ['things/a/attrs/on', 'ON', attrs({ on: true })],
  ['things/a/attrs/on', 'OFF', attrs({ on: false })],
  ['things/a/attrs/on', 'online', attrs({ on: true })],
  ['things/a/attrs/on', 'offline', attrs({ on: false })],
  ['things/a/attrs/on', ' true\n', attrs({ on: true })],
  ['things/a/attrs/id', '9007199254740993', attrs({ id: '9007199254740993' })],
  ['things/a/archive', '', ['thing archive', A]],
  ['things/a/delete', '{"deleted_at":5}', ['thing delete', { ...A, deleted_at: 5 }]],
  [
    'events/e',
    '{"action":"create","title":"E"}',
    ['event update', { event_id: 'e', event_time: NOW, title: 'E' }],
  ],
  [
    'events/e',
    '{"action":"close","event_time":5}',
    ['event close', { event_id: 'e', event_time: 5 }],
  ],
  ['messages', '{"title":"T","body":"B"}', ['message send', { title: 'T', body: 'B' }]],
  ['messages', 'Hello\nworld', ['message send', { title: 'Hello', body: 'Hello\nworld' }]],
  ['messages', '{"title"', ['message send', { title: '{"title"', body: '{"title"' }]],
  [
    'messages',
    'ä'.repeat(65),
    ['message send', { title: `${'ä'.repeat(64)}…`, body: 'ä'.repeat(65) }],
  ],
]

for (const [topic, payload, [intent, fields]] of taken) {
  test(`topics/2: ${topic} with ${payload.slice(0, 40)}`, (t) => {
    const read = readOwnTopic({ topic, payload: Buffer.from(payload), receivedAtMs: NOW })
    if (isFault(read)) return t.fail(read.code)
    const [wish] = read
    t.is(`${wish?.intent.model} ${wish?.intent.action}`, intent)
    t.deepEqual(
      {
        ...wish?.fields,
        ...(wish?.fields['attrs'] !== undefined && { attrs: { ...wish.fields['attrs'] } }),
      },
      fields,
    )
  })
}

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
  ['things/a', 'on', 'invalid_json_syntax'],
  ['things/a', '[1]', 'validation_failed'],
  ['things/a', '{"thing_id":"b"}', 'thing_id_mismatch'],
  ['things/a/attrs', '5', 'validation_failed'],
  ['things/a/attrs/t', '{"x":1}', 'validation_failed'],
  ['things/a/attrs/t', Buffer.from([0xff]), 'validation_failed'],
  ['messages', Buffer.from([0xff]), 'validation_failed'],
  ['events/e', '{}', 'validation_failed'],
  ['events/e', '{"action":"toString"}', 'validation_failed'],
  ['things/a', ' '.repeat(PAYLOAD_BYTES_MAX + 1), 'body_too_large'],
]

for (const [topic, payload, code] of refused) {
  test(`topics/1: ${topic.slice(0, 30)} with ${payload.toString().slice(0, 20)} is ${code}`, (t) => {
    const read = readOwnTopic({ topic, payload: Buffer.from(payload), receivedAtMs: NOW })
    t.is(isFault(read) ? read.code : 'taken', code)
  })
}
