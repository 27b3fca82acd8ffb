// Goal: a device gets a gap for entries that the feed no longer keeps, then the entries after it.
// Method: one session, inputs with their time, outputs as text (test/support/session-words.ts).

import test from 'ava'

import type { Session } from '#src/transports/session'
import type { Input } from '#src/transports/signals'
import { START, serve, play } from '#test/support/session-play'
import { ack, announced, frames, page, position } from '#test/support/session-words'

test('a session sends a gap once, before the entries after it', (t) => {
  const { feed } = serve([position('A', 9, 2)])
  t.deepEqual(feed(page(1, frames('A', 7), { headSeq: 9, complete: false, gapTo: 6 })), [
    'gap A 1-6 retention',
    'deliver A 7 replay',
    'read 2: A after 7 limit 2 removed 6/0',
  ])
})

test('serving/1: after a restart the Things come from the beginning', (t) => {
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

/** What the read that an input leads to tells of the session. */
const hasEveryChange = (session: Session, input: Input): boolean | undefined => {
  const [asked] = session.handle(input, START).filter(({ kind }) => kind === 'read-pages')
  return asked?.kind === 'read-pages' ? asked.requests[0]?.hasEveryChange : undefined
}

test('channel-listeners/4: a read tells whether the session had every change', (t) => {
  const { session } = serve([position('A', 9, 6)])
  t.false(hasEveryChange(session, page(1, frames('A', 7), { headSeq: 9, complete: false })))
  session.handle(announced('A', 10), START)
  t.true(hasEveryChange(session, page(2, frames('A', 8, 9), { headSeq: 9 })))
  session.handle(ack('A', 9), START)
  const restart = page(3, [], { headSeq: 10, complete: false, gapTo: 9, restart: true })
  t.false(hasEveryChange(session, restart))
})

test('serving/6: with a part of a page of the feed a session lacks changes', (t) => {
  const { session } = serve([position('A', 9)])
  t.true(hasEveryChange(session, announced('A', 20)))
  const ofStretch = { headSeq: 20, complete: false, isEachEntry: true } as const
  t.true(hasEveryChange(session, page(1, frames('A', 10), ofStretch)))
  t.false(hasEveryChange(session, page(2, frames('A', 12), { headSeq: 20, complete: false })))
  session.handle(page(3, frames('A', 19), { headSeq: 20 }), START)
  t.true(hasEveryChange(session, announced('A', 22)))
})

test('serving/5: after a restart the Messages that the device has do not come again', (t) => {
  const { session } = serve([position('A', 9, 6)])
  const restart = page(1, frames('A', 2), { headSeq: 9, complete: false, gapTo: 8, restart: true })
  const [asked] = session.handle(restart, START).filter(({ kind }) => kind === 'read-pages')
  if (asked?.kind !== 'read-pages') return t.fail()
  t.like(asked.requests[0], { afterSeq: 2, sinceSeq: 6, deletedSince: undefined })
})

test('a gap has the reason reset when the feed ends before the last sent entry', (t) => {
  const { feed } = serve([position('A', 9, 6)])
  const [gap] = feed(page(1, [], { headSeq: 4, complete: true, gapTo: 6, restart: true }))
  t.is(gap, 'gap A 1-6 reset restart')
})

test('a restart while entries are unacknowledged needs a new session', (t) => {
  const { feed } = serve([position('A', 5)])
  feed(announced('A', 6))
  feed(announced('A', 8))
  const restart = page(1, [], { headSeq: 8, gapTo: 7, restart: true })
  t.deepEqual(feed(restart), ['goaway resync 0'])
})
