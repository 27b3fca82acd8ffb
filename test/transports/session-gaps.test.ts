// Goal: a device learns what the feed keeps no more, and has the rest behind it.
// Method: one session, inputs with their time, outputs in words (test/support/session-words.ts).

import test from 'ava'

import type { Input } from '#src/transports/signals'
import { START, serve, play } from '#test/support/session-play'
import { ack, announced, frames, page, position } from '#test/support/session-words'

test('a gap goes out before the entries behind it, once', (t) => {
  const { feed } = serve([position('A', 9, 2)])
  t.deepEqual(feed(page(1, frames('A', 7), { headSeq: 9, complete: false, gapTo: 6 })), [
    'gap A 1-6 retention',
    'deliver A 7 replay',
    'read 2: A after 7 limit 2 removed 6/0',
  ])
})

test('serving/1: behind a restart the things come from the beginning', (t) => {
  const { feed } = serve([position('A', 9, 6)])
  play(
    t,
    [
      [
        page(1, frames('A', 2, 3), { headSeq: 9, complete: false, gapTo: 8, restart: true }),
        0,
        [
          'gap A 1-8 retention restart',
          'deliver A 2 replay',
          'deliver A 3 replay',
          'read 2: A after 3 limit 6 removed 8/8',
        ],
      ],
      [ack('A', 4), 0, ['error validation_failed']],
      [ack('A', 3), 0, ['acknowledge A 3']],
    ],
    feed,
  )
})

test('channel-listeners/4: a read says whether the session has heard of every entry up to the head', (t) => {
  const { session } = serve([position('A', 9, 6)])
  const isHeard = (input: Input): boolean | undefined => {
    const [asked] = session.handle(input, START).filter(({ kind }) => kind === 'read-pages')
    return asked?.kind === 'read-pages' ? asked.requests[0]?.hasReachedHead : undefined
  }
  t.false(isHeard(page(1, frames('A', 7), { headSeq: 9, complete: false })))
  session.handle(announced('A', 10), START)
  t.true(isHeard(page(2, frames('A', 8, 9), { headSeq: 9 })))
  session.handle(ack('A', 9), START)
  t.false(isHeard(page(3, [], { headSeq: 10, complete: false, gapTo: 9, restart: true })))
})

test('serving/5: behind a restart the messages that the device has do not come again', (t) => {
  const { session } = serve([position('A', 9, 6)])
  const restart = page(1, frames('A', 2), { headSeq: 9, complete: false, gapTo: 8, restart: true })
  const [asked] = session.handle(restart, START).filter(({ kind }) => kind === 'read-pages')
  if (asked?.kind !== 'read-pages') return t.fail()
  t.like(asked.requests[0], { afterSeq: 2, sinceSeq: 6, deletedSince: undefined })
})

test('a gap says that the feed was reset when it ends before the last sent entry', (t) => {
  const { feed } = serve([position('A', 9, 6)])
  const [gap] = feed(page(1, [], { headSeq: 4, complete: true, gapTo: 6, restart: true }))
  t.is(gap, 'gap A 1-6 reset restart')
})

test('a restart while entries are owed needs a new session', (t) => {
  const { feed } = serve([position('A', 5)])
  feed(announced('A', 6))
  feed(announced('A', 8))
  const restart = page(1, [], { headSeq: 8, gapTo: 7, restart: true })
  t.deepEqual(feed(restart), ['goaway resync 0'])
})
