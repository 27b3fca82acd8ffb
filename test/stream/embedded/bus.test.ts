import test from 'ava'

import type { Announcement } from '#domain/feed'
import type { Notice } from '#domain/ports'
import { LocalBus } from '#src/stream/embedded/bus'
import { channel } from '#test/support/submissions'

const announcementOf = (number: number): Announcement => ({
  channelId: channel(number),
  entries: [],
})

test('an announcement reaches the listeners of its channel, in order, and no others', (t) => {
  const bus = new LocalBus()
  const heard: string[] = []
  const [first, second, third] = [announcementOf(1), announcementOf(2), announcementOf(1)]
  const name = new Map([
    [first, 'first'],
    [second, 'second'],
    [third, 'third'],
  ])
  bus.listen(channel(1), (one) => heard.push(`a ${name.get(one)}`))
  bus.listen(channel(1), (one) => heard.push(`b ${name.get(one)}`))
  bus.listen(channel(3), () => heard.push('c'))
  bus.announce([first, second, third])
  t.deepEqual(heard, ['a first', 'b first', 'a third', 'b third'])
})

test('a stopped listener hears nothing more, and stopping twice is harmless', (t) => {
  const bus = new LocalBus()
  let heard = 0
  const count = (): number => (heard += 1)
  const stop = bus.listen(channel(1), count)
  stop()
  bus.listen(channel(1), count)
  stop()
  bus.announce([announcementOf(1)])
  t.is(heard, 1)
})

test('a listener that stops during its call does not keep others from hearing', (t) => {
  const bus = new LocalBus()
  const heard: string[] = []
  const stop = bus.listen(channel(1), () => {
    heard.push('a')
    stop()
  })
  bus.listen(channel(1), () => heard.push('b'))
  bus.announce([announcementOf(1), announcementOf(1)])
  t.deepEqual(heard, ['a', 'b', 'b'])
})

test('a notice reaches every listener', (t) => {
  const bus = new LocalBus()
  const heard: Notice[] = []
  const stop = bus.onNotice((notice) => heard.push(notice))
  bus.onNotice((notice) => heard.push(notice))
  const notice: Notice = { kind: 'applied', lane: 1, position: 2 }
  bus.notify(notice)
  stop()
  bus.notify(notice)
  t.deepEqual(heard, [notice, notice, notice])
})
