// Both forms of a wire: the platform's, and the one inside a thread.

import { MessageChannel } from 'node:worker_threads'

import test from 'ava'

import { memoryWire } from '#test/support/memory-wire'
import type { PeerWire } from '#src/threads/wire'
import { realRuntime } from '#test/support/real-runtime'
import { until } from '#test/support/until'

const FORMS: readonly (readonly [name: string, make: () => readonly [PeerWire, PeerWire]])[] = [
  [
    'MessageChannel',
    () => {
      const { port1, port2 } = new MessageChannel()
      return [port1, port2]
    },
  ],
  ['memory', () => memoryWire(realRuntime)],
]

for (const [name, make] of FORMS) {
  test(`${name}: messages arrive in order, also earlier than the first listener`, async (t) => {
    const [one, other] = make()
    const heard: unknown[] = []
    one.postMessage(1)
    one.postMessage(2)
    other.on('message', (message) => heard.push(message))
    one.postMessage(3)
    await until('the last arrived', () => heard.length === 3)
    one.postMessage(4)
    await until('one more arrived', () => heard.length === 4)
    t.deepEqual(heard, [1, 2, 3, 4])
    one.close()
  })

  test(`${name}: a message is a copy from the moment of sending`, async (t) => {
    const [one, other] = make()
    const heard: unknown[] = []
    other.on('message', (message) => heard.push(message))
    const list = ['sent']
    one.postMessage(list)
    list.push('later')
    await until('it arrived', () => heard.length === 1)
    t.deepEqual(heard, [['sent']])
    one.close()
  })

  test(`${name}: postMessage refuses a value that is no plain data`, (t) => {
    const [one] = make()
    t.throws(() => one.postMessage({ method: () => 1 }), { name: 'DataCloneError' })
    one.close()
  })

  test(`${name}: the close of one end reaches both, and no message arrives after it`, async (t) => {
    const [one, other] = make()
    const told: string[] = []
    one.on('message', () => told.push('a message'))
    other.on('message', () => told.push('a message'))
    one.on('close', () => told.push('one'))
    other.on('close', () => told.push('other'))
    one.close()
    await until('both are told', () => told.length >= 2)
    other.postMessage(1)
    one.postMessage(1)
    for (let turns = 0; turns < 10; turns += 1) await new Promise((go) => setImmediate(go))
    t.deepEqual(told.toSorted(), ['one', 'other'])
  })
}
