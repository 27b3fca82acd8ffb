// Goal: an attr has one topic, whichever way it goes: the level that names it is read back to it.

import test from 'ava'

import { newsOf } from '#src/mqtt/news'
import { attrNameOf } from '#src/mqtt/devices/session-topics'

for (const name of ['t', 'Inputs/A', 'a+b', '#', '50%', '%2F']) {
  test(`the attr ${name} is one level of a topic, which names it`, (t) => {
    const payload = JSON.stringify({ attrs: { [name]: 1 } })
    const entry = { model: 'thing', entityId: 'a', payload } as Parameters<typeof newsOf>[0]
    const [, { topic } = { topic: '' }] = newsOf(entry, true)
    const [things, of, attrs, level = '', ...more] = topic.split('/')
    t.deepEqual([things, of, attrs, more], ['things', 'a', 'attrs', []])
    t.notRegex(level, /[+#]/)
    t.is(attrNameOf(level), name)
  })
}
