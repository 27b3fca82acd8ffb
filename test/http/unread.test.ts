// Method: a real ingress whose store gives large pages; sockets that read late or never.

import { once } from 'node:events'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { FeedEntry } from '#domain/feed'
import { Expiring } from '#src/http/deadlines'
import { LARGE_BYTES, UNREAD_BYTES_MAX, Unread } from '#src/http/unread'
import { FakeTime } from '#test/support/fake-timers'
import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Raw, Rig } from '#test/support/start-ingress'
import { opId } from '#test/support/submissions'
import { rounds, until } from '#test/support/until'

const MIB = 2 ** 20
/** More than the buffers of two sockets on one machine take. */
const PAGE_MIB = 12

const entry = (seq: number): FeedEntry => ({
  channelId: CREDENTIALS.channel_id as FeedEntry['channelId'],
  seq,
  opId: opId(`op-${seq}`),
  model: 'message',
  action: 'send',
  entityId: 'a'.repeat(32) as FeedEntry['entityId'],
  acceptedAt: NOW_MS,
  payload: JSON.stringify({ body: 'ü'.repeat(MIB / 2) }),
})

async function rigOfLargePages(t: ExecutionContext, mebibytes = PAGE_MIB): Promise<Rig> {
  const rig = await startIngress(t)
  rig.reads.entries = Array.from({ length: mebibytes }, (_, at) => entry(at + 1))
  return rig
}

const BODY = JSON.stringify(CREDENTIALS)
const REQUEST =
  'POST /channel/history HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
  `content-length: ${Buffer.byteLength(BODY)}\r\n\r\n${BODY}`

/** Asks for a page and does not read the answer. */
function ask(rig: Rig): Raw {
  const raw = rig.connect()
  raw.socket.pause()
  raw.socket.write(REQUEST)
  return raw
}

const unreadOf = ({ meter }: Rig): number => meter.gauges.get('answer_unread_bytes')?.() ?? -1

// As it is: compressed it is too small to be large.
const history = (rig: Rig) =>
  rig.post('/channel/history', CREDENTIALS, { 'accept-encoding': 'identity' })

test('a large answer arrives whole, as it is read', async (t) => {
  const rig = await rigOfLargePages(t)
  const first = await history(rig)
  t.is(first.status, 200)
  t.is(Number(first.headers.get('content-length')), Buffer.byteLength(first.text))
  const data = first.json['data'] as { readonly items: readonly { readonly seq: number }[] }
  t.deepEqual(
    data.items.map(({ seq }) => seq),
    Array.from({ length: PAGE_MIB }, (_, at) => at + 1),
  )
  const slow = ask(rig)
  await until('some of it is held', () => unreadOf(rig) > 0)
  t.is(rig.ingress.http.inFlight, 0)
  slow.socket.resume()
  t.true((await slow.until(/\]\}\}$/)).endsWith(first.text))
  await until('nothing is held', () => unreadOf(rig) === 0)
})

test('exchange/5: a connection goes on after a large answer that was read late', async (t) => {
  const rig = await rigOfLargePages(t)
  const slow = ask(rig)
  await until('some of it is held', () => unreadOf(rig) > 0)
  slow.socket.resume()
  await slow.until(/\]\}\}$/)
  slow.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  t.regex(await slow.until(/"status":"ok"/), /"status":"ok"/)
})

test('exchange/5: beyond the bound large answers are refused, small ones are not', async (t) => {
  const rig = await rigOfLargePages(t)
  const slow: Raw[] = []
  const goOn = rounds()
  while (unreadOf(rig) + PAGE_MIB * MIB <= UNREAD_BYTES_MAX && goOn()) {
    const before = unreadOf(rig)
    slow.push(ask(rig))
    await until('one more is held', () => unreadOf(rig) > before)
  }
  t.true(unreadOf(rig) <= UNREAD_BYTES_MAX)
  const refused = await history(rig)
  t.is(refused.status, 503)
  t.is(refused.json['error_code'], 'server_busy')
  t.is(refused.headers.get('retry-after'), '1')
  t.is((await rig.get('/healthz')).status, 200)
  for (const raw of slow) raw.socket.destroy()
  await until('nothing is held', () => unreadOf(rig) === 0)
  t.is((await history(rig)).status, 200)
})

test('exchange/5: an answer that is not read within a minute is cut', async (t) => {
  const rig = await rigOfLargePages(t)
  const slow = ask(rig)
  await until('some of it is held', () => unreadOf(rig) > 0)
  rig.time.advance(59_999)
  t.true(unreadOf(rig) > 0)
  rig.time.advance(1)
  t.is(unreadOf(rig), 0)
  t.is(rig.meter.total('answers_cut_total'), 1)
  slow.socket.resume()
  await once(slow.socket, 'close')
})

class Answer extends Expiring {
  expire(): void {}
}

test('exchange/5: held bytes are counted exactly', (t) => {
  const time = new FakeTime(0)
  const unread = new Unread({ timers: time, monotonicMs: time.monotonicMs })
  const answer = new Answer()
  const large = 'x'.repeat(LARGE_BYTES)
  unread.changed(answer, 0, UNREAD_BYTES_MAX - LARGE_BYTES)
  t.true(unread.hasRoomFor(large))
  t.false(unread.hasRoomFor(`${large}x`))
  // The same number of characters, and one byte more.
  t.false(unread.hasRoomFor(`${large.slice(1)}ü`))
  t.true(unread.hasRoomFor(large.slice(1)))
  unread.changed(answer, UNREAD_BYTES_MAX - LARGE_BYTES, 0)
  t.is(unread.bytes, 0)
  t.false(answer.isWatched)
})

test('a page waits while a gateway reads as many as it may', async (t) => {
  const rig = await startIngress(t)
  const ends: (() => void)[] = []
  rig.reads.history = async () => {
    await new Promise<void>((resolve) => ends.push(resolve))
    return { items: [], headSeq: 0 }
  }
  const answers = Array.from({ length: 18 }, () => history(rig))
  await until('sixteen are read', () => ends.length === 16)
  const waiting = rig.meter.gauges.get('page_reads_waiting')
  await until('two wait', () => waiting?.() === 2)
  t.is((await rig.get('/healthz')).status, 200)
  await until('all are read', () => {
    for (const end of ends) end()
    return ends.length === 18
  })
  for (const end of ends) end()
  t.true((await Promise.all(answers)).every(({ status }) => status === 200))
})
