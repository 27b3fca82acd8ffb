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
  const received: string[] = []
  const [first, second, third] = [announcementOf(1), announcementOf(2), announcementOf(1)]
  const name = new Map([
    [first, 'first'],
    [second, 'second'],
    [third, 'third'],
  ])
  bus.listen(channel(1), (one) => received.push(`a ${name.get(one)}`))
  bus.listen(channel(1), (one) => received.push(`b ${name.get(one)}`))
  bus.listen(channel(3), () => received.push('c'))
  bus.announce([first, second, third])
  t.deepEqual(received, ['a first', 'b first', 'a third', 'b third'])
})

test('a stopped listener receives nothing more, and a second stop does nothing', (t) => {
  const bus = new LocalBus()
  let received = 0
  const count = (): number => (received += 1)
  const stop = bus.listen(channel(1), count)
  stop()
  bus.listen(channel(1), count)
  stop()
  bus.announce([announcementOf(1)])
  t.is(received, 1)
})

test('a listener that stops during its call does not prevent the calls of others', (t) => {
  const bus = new LocalBus()
  const received: string[] = []
  const stop = bus.listen(channel(1), () => {
    received.push('a')
    stop()
  })
  bus.listen(channel(1), () => received.push('b'))
  bus.announce([announcementOf(1), announcementOf(1)])
  t.deepEqual(received, ['a', 'b', 'b'])
})

test('a notice reaches every listener', (t) => {
  const bus = new LocalBus()
  const received: Notice[] = []
  const stop = bus.onNotice((notice) => received.push(notice))
  bus.onNotice((notice) => received.push(notice))
  const notice: Notice = { kind: 'applied', lane: 1, position: 2 }
  bus.notify(notice)
  stop()
  bus.notify(notice)
  t.deepEqual(received, [notice, notice, notice])
})
