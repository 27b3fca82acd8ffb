import { MessageChannel } from 'node:worker_threads'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Announcement, FeedEntry } from '#domain/feed'
import type { Notice } from '#domain/ports'
import { bridgedBus, serveBus } from '#src/threads/bus-bridge'
import type { BusTopics, ListenerTopics } from '#src/threads/bus-bridge'
import { Rpc } from '#src/threads/rpc'
import type { Services } from '#src/threads/rpc'
import { LocalBus } from '#src/stream/embedded/bus'
import { channel, message, opId } from '#test/support/submissions'

/** An announcement of one entry with this seq. */
const announcementOf = (number: number, seq: number): Announcement => ({
  channelId: channel(number),
  entries: [
    {
      channelId: channel(number),
      seq,
      opId: opId(`op-${seq}`),
      model: 'message',
      action: 'send',
      entityId: message().entityId,
      acceptedAt: 1,
      payload: '{}',
    },
  ],
})

type Ping = Services<{ ping: { ping(): Promise<void> } }>
interface EngineEnd {
  readonly services: Ping
  readonly topics: BusTopics
}
interface FrontEnd {
  readonly services: Ping
  readonly topics: ListenerTopics
}

/**
 * The engine's bus and the front's, over a real MessageChannel; what crossed to the front is
 * counted.
 */
function twoThreads(t: ExecutionContext) {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  const engine = new Rpc<EngineEnd, FrontEnd>(port1)
  const front = new Rpc<FrontEnd, EngineEnd>(port2)
  const told: string[] = []
  const tell = engine.tell.bind(engine)
  engine.tell = (topic, value) => {
    told.push(topic)
    tell(topic, value)
  }
  const engineBus = new LocalBus()
  serveBus(engineBus, engine)
  const frontBus = bridgedBus(new LocalBus(), front)
  front.serve({ ping: { ping: () => Promise.resolve() } })
  engine.serve({ ping: { ping: () => Promise.resolve() } })
  const fromEngine = engine.remote('ping')
  const fromFront = front.remote('ping')
  /** Resolves once everything that was sent before has arrived on the other side. */
  const settle = async (): Promise<void> => {
    await fromFront.ping()
    await fromEngine.ping()
  }
  return { engineBus, frontBus, told, settle }
}

function announcedSeqs(bus: Pick<LocalBus, 'listen'>, number: number) {
  const heard: number[] = []
  const stop = bus.listen(channel(number), ({ entries }) => {
    heard.push(...entries.map(({ seq }) => seq))
  })
  return { heard, stop }
}

test("the frontend's listener gets the engine's announcements in order", async (t) => {
  const { engineBus, frontBus, settle } = twoThreads(t)
  const { heard } = announcedSeqs(frontBus, 1)
  await settle()
  engineBus.announce([announcementOf(1, 1), announcementOf(1, 2)])
  engineBus.announce([announcementOf(1, 3)])
  await settle()
  t.deepEqual(heard, [1, 2, 3])
})

test('bus-bridge/3: an announcement arrives unchanged', async (t) => {
  const { engineBus, frontBus, settle } = twoThreads(t)
  const heard: Announcement[] = []
  frontBus.listen(channel(1), (announcement) => heard.push(announcement))
  await settle()
  const { channelId, entries } = announcementOf(1, 1)
  const [sent] = entries
  if (sent === undefined) throw new Error('an announcement of one entry has none')
  const updated = { ...sent, seq: 2, model: 'thing', action: 'update', state: 'active', rev: 7 }
  const made = [
    { channelId, entries: [sent, updated as FeedEntry] },
    { channelId, entries: [{ ...sent, seq: 3 }], headSeq: 9 },
    { channelId, entries: [], headSeq: 10 },
  ]
  engineBus.announce(made)
  await settle()
  t.deepEqual(heard, made)
})

test('bus-bridge/1: an announcement without a listener does not cross', async (t) => {
  const { engineBus, frontBus, told, settle } = twoThreads(t)
  announcedSeqs(frontBus, 1)
  await settle()
  engineBus.announce([announcementOf(1, 1), announcementOf(2, 1), announcementOf(3, 1)])
  await settle()
  t.deepEqual(told, ['announce'])
})

test('bus-bridge/1: an announcement crosses once for all listeners, until the last one stops', async (t) => {
  const { engineBus, frontBus, told, settle } = twoThreads(t)
  const first = announcedSeqs(frontBus, 1)
  const second = announcedSeqs(frontBus, 1)
  await settle()
  engineBus.announce([announcementOf(1, 1)])
  await settle()
  first.stop()
  first.stop()
  await settle()
  engineBus.announce([announcementOf(1, 2)])
  await settle()
  t.deepEqual(first.heard, [1])
  t.deepEqual(second.heard, [1, 2])
  t.is(told.length, 2)

  second.stop()
  await settle()
  engineBus.announce([announcementOf(1, 3)])
  await settle()
  t.is(told.length, 2)

  const third = announcedSeqs(frontBus, 1)
  await settle()
  engineBus.announce([announcementOf(1, 4)])
  await settle()
  t.deepEqual(third.heard, [4])
  t.is(told.length, 3)
})

test('bus-bridge/1: the message about a listener crosses before a later call', async (t) => {
  const { engineBus, frontBus, settle } = twoThreads(t)
  // A session listens first and reads the feed then: what is announced after the read must reach
  // it.
  const { heard } = announcedSeqs(frontBus, 1)
  const read = settle()
  await read
  engineBus.announce([announcementOf(1, 7)])
  await settle()
  t.deepEqual(heard, [7])
})

test("the frontend's own announcements do not cross", async (t) => {
  const { engineBus, frontBus, settle } = twoThreads(t)
  const here = announcedSeqs(frontBus, 1)
  const there = announcedSeqs(engineBus, 1)
  frontBus.announce([announcementOf(1, 5)])
  await settle()
  t.deepEqual(here.heard, [5])
  t.deepEqual(there.heard, [])
})

test('bus-bridge/2: a notice reaches each thread once, whichever thread sent it', async (t) => {
  const { engineBus, frontBus, settle } = twoThreads(t)
  const heard: string[] = []
  const note = (where: string) => (notice: Notice) => void heard.push(`${where} ${notice.kind}`)
  engineBus.onNotice(note('engine'))
  const stop = frontBus.onNotice(note('front'))
  engineBus.notify({ kind: 'applied', lane: 1, position: 2 })
  await settle()
  await settle()
  t.deepEqual(heard, ['engine applied', 'front applied'])

  heard.splice(0)
  frontBus.notify({ kind: 'channel-deleted', channelId: channel(1) })
  await settle()
  await settle()
  t.deepEqual(heard, ['front channel-deleted', 'engine channel-deleted'])

  stop()
  engineBus.notify({ kind: 'applied', lane: 1, position: 3 })
  await settle()
  t.deepEqual(heard.slice(2), ['engine applied'])
})
