// Method: one session, inputs with their time, outputs as text (test/support/session-words.ts).

import test from 'ava'

import {
  READS_AT_ONCE_MAX,
  READ_BYTES_MAX,
  READ_CHANNELS_MAX,
  READ_ENTRIES_MAX,
  WINDOW_BYTES_MAX,
  WINDOW_ENTRIES_MAX,
} from '#src/transports/signals'
import { channelIdFromBytes } from '#domain/identity'
import type { Input } from '#src/transports/signals'
import {
  ack,
  announced,
  bigFrame,
  channel,
  frames,
  page,
  position,
} from '#test/support/session-words'
import { START, serve, play } from '#test/support/session-play'

test('session-window/1: beyond 256 unacknowledged entries a session pushes none until half is acknowledged', (t) => {
  const { session, feed } = serve([position('A', 0), position('B', 0)])
  t.is(feed(announced('A', 1, WINDOW_ENTRIES_MAX)).length, WINDOW_ENTRIES_MAX)
  t.deepEqual(session.unacknowledged.entries, WINDOW_ENTRIES_MAX)
  play(
    t,
    [
      [announced('A', 257), 0, []],
      [announced('B', 1), 0, []],
      [ack('A', 127), 0, ['acknowledge A 127']],
      [ack('A', 128), 0, ['acknowledge A 128', 'read 1: A after 256 limit 1, B after 0 limit 1']],
    ],
    feed,
  )
  t.is(session.behind, 2)
})

test('session-window/1: beyond 1 MiB unacknowledged a session pushes nothing', (t) => {
  const { session, feed } = serve([position('A', 0)])
  const size = WINDOW_BYTES_MAX / 8
  const big = (seq: number): Input => ({
    kind: 'announced',
    channelId: channel('A'),
    frames: [bigFrame('A', seq, size)],
    headSeq: seq,
  })
  for (let seq = 1; seq <= 8; seq += 1) t.is(feed(big(seq)).length, 1)
  t.deepEqual(session.unacknowledged, { entries: 8, bytes: WINDOW_BYTES_MAX })
  t.deepEqual(feed(big(9)), [])
  t.deepEqual(feed(ack('A', 3)), ['acknowledge A 3'])
  t.is(feed(ack('A', 4)).length, 2)
})

test('session-window/2: a session pushes nothing to a carrier that holds too much, until it holds half', (t) => {
  const { feed } = serve([position('A', 0)])
  play(
    t,
    [
      [{ kind: 'buffered', bytes: WINDOW_BYTES_MAX + 1 }, 0, []],
      [announced('A', 1), 0, []],
      [{ kind: 'buffered', bytes: WINDOW_BYTES_MAX / 2 + 1 }, 0, []],
      [{ kind: 'buffered', bytes: WINDOW_BYTES_MAX / 2 }, 0, ['read 1: A after 0 limit 1']],
    ],
    feed,
  )
})

test('session-window/2: a session with a nearly full window reads nothing until half is acknowledged', (t) => {
  const { feed } = serve([position('A', 0)])
  feed(announced('A', 1, 225))
  play(
    t,
    [
      [{ kind: 'subscribed', position: position('B', 9, 8) }, 0, ['subscribed B 8/9']],
      [ack('A', 96), 0, ['acknowledge A 96']],
      [ack('A', 97), 0, ['acknowledge A 97', 'read 1: B after 8 limit 1']],
    ],
    feed,
  )
})

test('a session sends a page as far as the window has room, and reads again from there', (t) => {
  const { feed } = serve([position('A', 20, 0)])
  const big = Array.from({ length: 12 }, (_, at) => bigFrame('A', at + 1, WINDOW_BYTES_MAX / 8))
  const sent = feed(page(1, big, { headSeq: 20, complete: false }))
  t.is(sent.length, 8)
  t.is(sent.at(-1), 'deliver A 8 replay')
  t.is(feed(ack('A', 8)).at(-1), 'read 2: A after 8 limit 12')
})

test('backlog/1: the reads that run have room in the window together', (t) => {
  t.is(READ_ENTRIES_MAX * READS_AT_ONCE_MAX, WINDOW_ENTRIES_MAX)
  t.is(READ_BYTES_MAX * READS_AT_ONCE_MAX, WINDOW_BYTES_MAX)
  const { session } = serve([])
  const positions = 'ABCDEFGHJKMNPQRSTVWXYZ'.split('').map((letter) => position(letter, 1_000, 0))
  const asked = session.handle({ kind: 'positions', positions }, START)
  const reads = asked.filter((output) => output.kind === 'read-pages')
  t.is(reads.length, READS_AT_ONCE_MAX)
  const limits = reads.flatMap(({ requests }) => requests.map(({ limit }) => limit))
  t.true(limits.reduce((sum, limit) => sum + limit, 0) <= WINDOW_ENTRIES_MAX)
})

test('backlog/3: a read shares its entries out over the channels that are behind, as each needs', (t) => {
  const { feed } = serve([])
  const positions = [position('A', 3, 0), position('B', 500, 0), position('C', 500, 0)]
  t.deepEqual(
    feed({ kind: 'positions', positions }).filter((words) => words.startsWith('read')),
    ['read 1: A after 0 limit 3, B after 0 limit 63, C after 0 limit 62'],
  )
})

test('backlog/3: a read has a bounded number of channels', (t) => {
  const { session } = serve([])
  const positions = Array.from({ length: 3 * READ_CHANNELS_MAX }, (_, at) => ({
    ...position('A', 1, 0),
    channelId: channelIdFromBytes(Buffer.alloc(16, at)),
  }))
  const asked = session.handle({ kind: 'positions', positions }, START)
  const reads = asked.filter((output) => output.kind === 'read-pages')
  t.deepEqual(
    reads.map(({ requests }) => requests.length),
    [READ_CHANNELS_MAX, READ_CHANNELS_MAX],
  )
})

test('backlog/3: the next read covers channels that had no room in the one before', (t) => {
  const { feed } = serve([position('A', 2, 0), position('B', 1, 0)])
  t.deepEqual(feed(page(1, frames('A', 1, 2), { headSeq: 2 })), [
    'deliver A 1 replay',
    'deliver A 2 replay',
    'caught up A 2',
    'read 2: B after 0 limit 1',
  ])
  t.deepEqual(feed({ kind: 'pages', ticket: 2, pages: [] }), [])
  t.deepEqual(feed({ kind: 'tick' }), ['read 3: B after 0 limit 1'])
})

test('serving/4: an acknowledgement counts once and never beyond the sent entries', (t) => {
  const { feed } = serve([position('A', 5)])
  play(
    t,
    [
      [ack('A', 6), 0, ['error validation_failed']],
      [announced('A', 6), 0, ['deliver A 6 live']],
      [ack('A', 6), 0, ['acknowledge A 6']],
      [ack('A', 6), 0, []],
      [ack('A', 2), 0, []],
      [ack('B', 1), 0, ['error channel_not_found']],
    ],
    feed,
  )
})
