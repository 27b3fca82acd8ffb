// Method: one session, inputs with their time, outputs in words (test/support/session-words.ts).

import test from 'ava'

import { progressFrom, requestOf } from '#src/transports/progress'
import {
  PAGES_AT_ONCE_MAX,
  PAGE_ENTRIES_MAX,
  WINDOW_BYTES_MAX,
  WINDOW_ENTRIES_MAX,
} from '#src/transports/signals'
import type { Input } from '#src/transports/signals'
import { ack, announced, bigFrame, channel, page, position } from '#test/support/session-words'
import { serve, play } from '#test/support/session-play'

test('session-window/1: beyond 256 unacknowledged entries nothing is pushed until half is acknowledged', (t) => {
  const { session, feed } = serve([position('A', 0), position('B', 0)])
  t.is(feed(announced('A', 1, WINDOW_ENTRIES_MAX)).length, WINDOW_ENTRIES_MAX)
  t.deepEqual(session.unacknowledged.entries, WINDOW_ENTRIES_MAX)
  play(
    t,
    [
      [announced('A', 257), 0, []],
      [announced('B', 1), 0, []],
      [ack('A', 127), 0, ['acknowledge A 127']],
      [ack('A', 128), 0, ['acknowledge A 128', 'read 1: A after 256 limit 100']],
    ],
    feed,
  )
  t.is(session.behind, 2)
})

test('session-window/1: beyond 1 MiB unacknowledged nothing is pushed', (t) => {
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

test('session-window/2: a carrier that holds too much stops the pushing until it has drained to half', (t) => {
  const { feed } = serve([position('A', 0)])
  play(
    t,
    [
      [{ kind: 'buffered', bytes: WINDOW_BYTES_MAX + 1 }, 0, []],
      [announced('A', 1), 0, []],
      [{ kind: 'buffered', bytes: WINDOW_BYTES_MAX / 2 + 1 }, 0, []],
      [{ kind: 'buffered', bytes: WINDOW_BYTES_MAX / 2 }, 0, ['read 1: A after 0 limit 100']],
    ],
    feed,
  )
})

test('session-window/2: a nearly full window reads nothing until half of it is acknowledged', (t) => {
  const { feed } = serve([position('A', 0)])
  feed(announced('A', 1, 225))
  play(
    t,
    [
      [{ kind: 'subscribed', position: position('B', 9, 8) }, 0, ['subscribed B 8/9']],
      [ack('A', 96), 0, ['acknowledge A 96']],
      [ack('A', 97), 0, ['acknowledge A 97', 'read 1: B after 8 limit 100']],
    ],
    feed,
  )
})

test('a page larger than the window is sent as far as it fits and read again from there', (t) => {
  const { feed } = serve([position('A', 20, 0)])
  const big = Array.from({ length: 12 }, (_, at) => bigFrame('A', at + 1, WINDOW_BYTES_MAX / 8))
  const sent = feed(page(1, big, { headSeq: 20, complete: false }))
  t.is(sent.length, 8)
  t.is(sent.at(-1), 'deliver A 8 replay')
  t.is(feed(ack('A', 8)).at(-1), 'read 2: A after 8 limit 100')
})

test('backlog/1: the pages that may be under way have room in the window together', (t) => {
  const { limit, bytes = 0 } = requestOf(progressFrom(position('A', 9), 0), PAGE_ENTRIES_MAX)
  t.true(limit * PAGES_AT_ONCE_MAX <= WINDOW_ENTRIES_MAX)
  t.is(bytes * PAGES_AT_ONCE_MAX, WINDOW_BYTES_MAX)
})

test('serving/4: an acknowledgement counts once and never beyond what was sent', (t) => {
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
