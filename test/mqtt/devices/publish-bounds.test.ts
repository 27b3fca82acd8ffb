// Goal: what one publish can make the process compute and keep has a bound, whatever its family.
// Method: payloads that were seen to end the process or to hold it up, and each bound at its limit.

import test from 'ava'

import { isFault } from '#domain/fault'
import { flattened } from '#src/mqtt/devices/payload'
import { PUBLISH_BYTES_MAX, translate } from '#src/mqtt/devices/translate'
import { WISHES_MAX } from '#src/mqtt/devices/wishes'
import { telling } from '#test/support/counted-work'
import { connectionOf, mapped, objectOf, outcomeOf, publishOf } from '#test/support/device-publish'
import type { Payload } from '#test/support/device-publish'
import { sparkplugBytes } from '#test/support/sparkplug'

const WISH_BYTES_MAX = 32_768
const CONFIG = 'homeassistant/sensor/a/config'
const MIB = 2 ** 20
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** A list of objects that has about so many bytes. */
const listOf = (bytes: number): string =>
  `[${Array.from({ length: bytes / 8 }, () => '{"a":1}').join()}]`
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
const MANY = 'validation_failed payload'
const attacks: readonly (readonly [
  what: string,
  topic: string,
  payload: Payload,
  expected: readonly object[] | string,
])[] = [
  [
    'a base topic of replacement patterns',
    CONFIG,
    { '~': "$'".repeat(54_000), stat_t: `~${'y'.repeat(108_000)}` },
    [],
  ],
  [
    'a replacement pattern in a base topic that is small enough',
    CONFIG,
    { '~': "a/$'/$&", stat_t: '~/b', avty_t: 'b/~' },
    [],
  ],
  [
    'a long base topic in each member',
    CONFIG,
    { '~': 'b'.repeat(100_000), ...objectOf(15_000, (n) => `k${n}`, '~') },
    [],
  ],
  [
    'a template of many names',
    CONFIG,
    { stat_t: 'a/b', val_tpl: `{{ value_json${'.a'.repeat(100_000)} }}` },
    [],
  ],
  [
    'more components than one device has',
    'homeassistant/device/a/config',
    { '~': 'b', cmps: objectOf(20_000, (n) => `k${n}`, { t: '~' }) },
    'validation_failed components',
  ],
  ['a list of a mebibyte', 'v2/t', listOf(MIB), MANY],
  ['a gateway of a mebibyte', 'v1/gateway/telemetry', objectOf(60_000, (n) => `d ${n}`, []), MANY],
  [
    'a list of devices of a mebibyte',
    'zigbee2mqtt/bridge/devices',
    `[${'{"friendly_name":"a"},'.repeat(45_000)}0]`,
    MANY,
  ],
  [
    'events of a mebibyte',
    'a/events/rpc',
    {
      method: 'NotifyEvent',
      params: { events: Array.from({ length: 20_000 }, () => ({ component: 'c', event: 'e' })) },
    },
    MANY,
  ],
  [
    'devices behind a device',
    'tele/a/SENSOR',
    { ZbReceived: objectOf(30_000, (n) => `0x ${n}`, { a: 1 }) },
    MANY,
  ],
  [
    'a code that is an object',
    'application/a/device/b/event/log',
    '{"level":"ERROR","code":{"toString":1}}',
    [{ message: 'b: ERROR', title: 'b: ERROR', body: '', thing: 'b' }],
  ],
  [
    'a code that is a deep list',
    'application/a/device/b/event/log',
    `{"level":"ERROR","code":${deep(20_000)}}`,
    [{ message: 'b: ERROR', title: 'b: ERROR', body: '', thing: 'b' }],
  ],
]
for (const [what, topic, payload, expected] of attacks) {
  test(`payload/3: ${what} takes no more than it is`, (t) => {
    t.deepEqual(outcomeOf([[topic, payload]]), expected)
  })
}

test('a base topic stands in the place of ~ as it is, at the begin or the end of a topic', (t) => {
  const connection = connectionOf()
  const config = { '~': "a/$'$&", stat_t: '~/b', avty_t: 'up/~', dev: { ids: 'x' } }
  outcomeOf([[CONFIG, config]], connection)
  t.deepEqual(outcomeOf([["a/$'$&/b", '7']], connection), [{ update: 'x', attrs: { a: 7 } }])
  t.deepEqual(outcomeOf([["up/a/$'$&", 'offline']], connection), [
    { update: 'x', attrs: { online: false } },
  ])
})

test('payload/3: a prefix stands before as many names as a submission holds, small payloads too', (t) => {
  const mappings = mapped([{ topic: 'm', thing: 't', prefix: 'p'.repeat(512) }])
  const connection = connectionOf(mappings)
  const of = (count: number): Payload => objectOf(count, (n) => `${n}`.padStart(2, 'a'), 1)
  const outcome = (count: number) => translate(publishOf('m', of(count)), connection)
  const [taken, refused] = [outcome(63), outcome(64)]
  t.false(isFault(taken))
  t.is(isFault(refused) && refused.code, 'body_too_large')
  t.is(
    outcomeOf([['m', objectOf(100_000, (n) => `${n}`, 1)]], connection),
    'body_too_large payload',
  )
})

test('translate/1: all submissions of a publish have a bound together', (t) => {
  // Each is just below the bound of one.
  const one = { ['x'.repeat(127)]: objectOf(230, (n) => `${n}`.padStart(3, '0'), 1) }
  const sizes = [133, 134].map((count) => {
    const payload = Array.from({ length: count }, () => one)
    const outcome = translate(publishOf('v2/t', payload), connectionOf())
    if (outcome === undefined) return 0
    return isFault(outcome) ? outcome.code : outcome.wishes.length
  })
  const [wish] = wishesOf('v2/t', [one])
  const size = bytesOf(wish?.fields)
  t.true(size <= WISH_BYTES_MAX)
  t.deepEqual(
    [133, 134].map((count) => count * size <= PUBLISH_BYTES_MAX),
    [true, false],
  )
  t.deepEqual(sizes, [133, 'body_too_large'])
})

test('payload/3: no more names are made of a prefix than a submission holds twice', (t) => {
  const sent = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`${index}`, 1]))
  const characters = Object.keys(flattened(sent, { prefix: 'p'.repeat(512) })).join('').length
  t.true(characters > 2 * WISH_BYTES_MAX && characters < 2 * WISH_BYTES_MAX + 1_000)
})

test('translate/1: a publish becomes a thousand submissions, and not one more', (t) => {
  const list = (count: number): Payload => Array.from({ length: count }, () => ({ a: 1 }))
  t.is(wishesOf('v2/t', list(WISHES_MAX)).length, WISHES_MAX)
  t.is(outcomeOf([['v2/t', list(WISHES_MAX + 1)]]), MANY)
  // Each time of a metric is a submission, beside that of the birth.
  const timed = (count: number): Payload =>
    sparkplugBytes({
      metrics: Array.from({ length: count }, (_, index) => ({
        name: 'm',
        timestamp: BigInt(1_700_000_000_000 + index),
        datatype: 11,
        value: { case: 'booleanValue' as const, value: true },
      })),
    })
  t.is(wishesOf('spBv1.0/g/NBIRTH/e', timed(WISHES_MAX - 1)).length, WISHES_MAX)
  t.is(outcomeOf([['spBv1.0/g/NBIRTH/e', timed(WISHES_MAX)]]), MANY)
})

test('a birth of ten thousand metrics with units looks at as many names as it has, a few times', (t) => {
  const metrics = Array.from({ length: 10_000 }, (_, index) => ({
    name: `m${index}`,
    timestamp: BigInt(1_700_000_000_000 + (index % 100)),
    datatype: 11,
    properties: { keys: ['engUnit'], values: [{ type: 12, stringValue: 'bar' }] },
    value: { case: 'booleanValue' as const, value: true },
  }))
  const payload = sparkplugBytes({ metrics })
  let names = 0
  const count = (_self: unknown, [object]: readonly unknown[]): void =>
    void (names += Reflect.ownKeys(object as object).length)
  const wishes = telling(Object, 'keys', count, () => wishesOf('spBv1.0/g/NBIRTH/e', payload))
  t.is(wishes.length, 101)
  t.true(names < 10 * metrics.length, `${names} names`)
})

test('translate/2: of a key that may not send nothing is read, nor compared with a mapping', (t) => {
  let compared = 0
  const [mapping] = mapped([{ topic: 'm', thing: 't' }])
  if (mapping === undefined) return t.fail()
  const match = (): undefined => void (compared += 1)
  const { sender, state } = connectionOf([{ ...mapping, pattern: { ...mapping.pattern, match } }])
  const key = (scopes: readonly ('read' | 'send')[]) =>
    ({ ...KEY, scopes }) as NonNullable<typeof sender.key>
  const publish = publishOf('homie/5/a/$description', '{"name":"a"}')
  const refused = translate(publish, { sender: { ...sender, key: key(['read']) }, state })
  t.is(isFault(refused) && refused.code, 'key_scope')
  t.deepEqual([compared, state.bytes], [0, 0])
  t.false(isFault(translate(publish, { sender: { ...sender, key: key(['send']) }, state })))
  t.is(compared, 1)
  const long = publishOf(`${'a'.repeat(128)}/`.repeat(4), '')
  const beyond = translate(long, { sender, state })
  t.is(isFault(beyond) && beyond.field, 'topic')
  t.is(compared, 1)
  return undefined
})
const KEY = { keyId: '1', keyHash: '', label: '', thingPrefix: '', expiresAt: 0, lastUsedOn: 0 }

function wishesOf(topic: string, payload: Payload) {
  const outcome = translate(publishOf(topic, payload), connectionOf())
  if (outcome === undefined || isFault(outcome)) throw new Error(`${topic} is not taken`)
  return outcome.wishes
}
