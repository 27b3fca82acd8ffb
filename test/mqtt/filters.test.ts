// Goal: filters match topics as MQTT says, and one that can match nothing is refused.

import test from 'ava'

import { Subscriptions, filterLevelsOf, matches } from '#src/mqtt/subscriptions'
import { channel } from '#test/support/session-words'

const GRANTED = ['#', '+/+', 'messages', 'messages/#', 'things/#', 'things/+/#', 'things/a/attrs/+']
const OTHERS = ['cmnd/tasmota/#', 'thing/+', 'homeassistant/status']
const REFUSED = ['$SYS/#', '$aws/+', 'messages/+', 'things', 'things/a/attrs', 'things/+/attr/+']
const BESIDE = ['events/a/b', 'events/+/+/#', 'things/a/attrs/t/#/', 'things/+/attrs/+/+/#']

test('mqtt-subscriptions/3: a filter of our own topics that nothing can match is refused', (t) => {
  const codeOf = (topic: string): number =>
    new Subscriptions({ channelId: channel('A') }).add({ topic, qos: 0 }, undefined).code
  for (const topic of [...GRANTED, ...OTHERS]) t.is(codeOf(topic), 0, topic)
  for (const topic of [...REFUSED, ...BESIDE]) t.is(codeOf(topic), 0x8f, topic)
})

const filters: readonly (readonly [
  filter: string,
  taken: readonly string[],
  other: readonly string[],
])[] = [
  ['#', ['a', 'a/b'], []],
  ['things/#', ['things', 'things/a', 'things/a/attrs/t'], ['events/a', 'thing']],
  ['things/+', ['things/a', 'things/'], ['things', 'things/a/attrs']],
  ['things/+/attrs/+', ['things/a/attrs/t'], ['things/a/attrs', 'things/a/attrs/t/u']],
  ['+', ['messages'], ['things/a']],
]

for (const [text, taken, other] of filters) {
  test(`the filter ${text} matches as MQTT says`, (t) => {
    const levels = filterLevelsOf(text) ?? []
    for (const topic of taken) t.true(matches(levels, topic.split('/')), topic)
    for (const topic of other) t.false(matches(levels, topic.split('/')), topic)
  })
}
