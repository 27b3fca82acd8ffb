// Goal: subscribers that do not read their streams keep neither memory nor a place for others.
// Method: a channel with messages without end, and sockets that read little or nothing.

import { once } from 'node:events'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { FeedFollowing } from '#src/acceptance/feed-following'
import type { Topic } from '#src/compat/topic/channels'
import { readOn } from '#src/compat/topic/reading'
import { TEST_MS } from '#test/support/bounds'
import { TOPIC } from '#test/support/compatibility-rig'
import { RawWebSocket } from '#test/support/raw-websocket'
import type { Rig } from '#test/support/start-ingress'
import { messageOf, startTopics } from '#test/support/topic-subscribers'
import { rounds, turn, until } from '#test/support/until'

const BODY = 'x'.repeat(30_000)
const MIB = 2 ** 20

/** A channel whose feed never ends; `made` counts the bytes that were read of it. */
async function endless(t: ExecutionContext): Promise<Rig & { readonly made: () => number }> {
  const rig = await startTopics(t)
  const message = messageOf(rig, 1, { title: 'T', body: BODY })
  let made = 0
  rig.reads.history = async (query: HistoryQuery) => {
    const { afterSeq = 0 } = query
    const items = Array.from({ length: 32 }, (_, at) => ({ ...message, seq: afterSeq + at + 1 }))
    made += items.length * message.payload.length
    return { items, next: afterSeq + items.length, headSeq: Number.MAX_SAFE_INTEGER }
  }
  return { ...rig, made: () => made }
}

const streamsOf = ({ meter }: Rig): number => meter.gauges.get('feed_streams')?.() ?? -1
const unreadOf = ({ meter }: Rig): number => meter.gauges.get('answer_unread_bytes')?.() ?? -1

/** Begins to read each form of a stream, and stops. */
const FORMS: readonly (readonly [name: string, open: (rig: Rig) => Promise<() => void>])[] = [
  ...['json', 'sse', 'raw'].map((form) => {
    const open = async (rig: Rig): Promise<() => void> => {
      const { socket } = rig.connect()
      socket.pause()
      socket.write(`GET ${TOPIC}/${form}?since=all HTTP/1.1\r\nhost: x\r\n\r\n`)
      return () => undefined
    }
    return [form, open] as const
  }),
  [
    'ws',
    async (rig) => {
      const url = `ws://127.0.0.1:${rig.port}${TOPIC}/ws?since=all`
      const client = await RawWebSocket.open(url, () => undefined)
      client.socket.pause()
      return () => client.send('I am here')
    },
  ],
]

for (const [form, open] of FORMS) {
  test(`exchange/5: a subscriber of ${form} that reads nothing for a minute is ended`, async (t) => {
    const rig = await endless(t)
    const speak = await open(rig)
    await until('something is held', () => unreadOf(rig) > 0)
    const made = rig.made()
    rig.time.advance(59_999)
    speak()
    for (let at = 0; at < 20; at += 1) await turn()
    t.is(streamsOf(rig), 1)
    t.is(rig.made(), made)
    rig.time.advance(1)
    await until('its place is free', () => streamsOf(rig) === 0)
    t.is(unreadOf(rig), 0)
    t.is(rig.meter.total('answers_cut_total'), 1)
  })
}

test('messages go out in groups of few bytes, whatever a page has', async (t) => {
  const rig = await endless(t)
  const topic = { info: { channelId: rig.channelId } } as Topic
  const place = { topic, sinceMs: undefined, afterSeq: 0 }
  const page = (query: HistoryQuery): ReturnType<FeedFollowing['page']> => rig.reads.history(query)
  for await (const group of readOn({ page } as FeedFollowing, [place])) {
    t.is(group.length, Math.ceil(65_536 / (group[0]?.entry.payload.length ?? 0)))
    if (place.afterSeq > 100) break
  }
})

test('streaming/3: what is held for a subscriber that reads slowly does not grow', async (t) => {
  t.timeout(TEST_MS)
  const rig = await endless(t)
  const { socket } = rig.connect()
  const read = { bytes: 0 }
  socket.pause()
  socket.on('data', ({ length }) => {
    read.bytes += length
    socket.pause()
  })
  socket.write(`GET ${TOPIC}/json?since=all HTTP/1.1\r\nhost: x\r\n\r\n`)
  const goOn = rounds(20_000)
  while (read.bytes < 32 * MIB && goOn()) {
    const taken = once(socket, 'data')
    socket.resume()
    await taken
    // The buffers of two sockets on one machine, and one page.
    t.true(rig.made() - read.bytes < 12 * MIB)
  }
  socket.destroy()
})
