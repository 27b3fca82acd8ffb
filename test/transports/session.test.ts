// Method: one session, inputs with their time, outputs in words (test/support/session-words.ts).

import test from 'ava'

import { CHECK_EVERY_MS, HEARTBEAT_MS, RETRY_READ_MS } from '#src/transports/signals'
import type { Input } from '#src/transports/signals'
import { ack, announced, channel, entry, frames, page, position } from '#test/support/session-words'
import { frameOf } from '#src/transports/channel-listeners'
import { START, TICK, serve, play } from '#test/support/session-play'

test('a device that is up to date gets a welcome and caught_up', (t) => {
  const { welcome, rest } = serve([position('A', 7), position('B', 0)])
  t.is(welcome, 'welcome A 7/7 B 0/0')
  t.deepEqual(rest, ['caught up A 7', 'caught up B 0'])
})

test('a device that is behind gets a page, then live entries', (t) => {
  const { rest, feed } = serve([position('A', 7, 4)])
  t.deepEqual(rest, ['read 1: A after 4 limit 3'])
  play(
    t,
    [
      [
        page(1, frames('A', 6, 7), { headSeq: 7 }),
        0,
        ['deliver A 6 replay', 'deliver A 7 replay', 'caught up A 7'],
      ],
      [announced('A', 8, 9), 0, ['deliver A 8 live', 'deliver A 9 live']],
      [ack('A', 9), 0, ['acknowledge A 9']],
    ],
    feed,
  )
})

test('a cursor of the hello goes before the acknowledged position and acknowledges', (t) => {
  const { welcome, rest } = serve([position('A', 7, 4)], { cursors: { [channel('A')]: 6 } })
  t.is(welcome, 'welcome A 6/7')
  t.deepEqual(rest, ['acknowledge A 6', 'read 1: A after 6 limit 1'])
})

test('a cursor behind the acknowledged position is believed too', (t) => {
  const { rest } = serve([position('A', 7, 7)], { cursors: { [channel('A')]: 2 } })
  t.deepEqual(rest, ['read 1: A after 2 limit 5'])
})

test('a cursor ahead of the feed makes the device begin anew', (t) => {
  const { welcome, rest } = serve([position('A', 7, 7)], { cursors: { [channel('A')]: 9 } })
  t.is(welcome, 'welcome A 0/7')
  t.deepEqual(rest, ['gap A 8-9 reset restart', 'read 1: A after 0 limit 7'])
})

test('serving/2: older entries are dropped, and a hole leads back to the feed', (t) => {
  const { feed } = serve([position('A', 5)])
  play(
    t,
    [
      [announced('A', 4, 5), 0, []],
      [announced('A', 5, 6), 0, ['deliver A 6 live']],
      [announced('A', 8), 0, ['read 1: A after 6 limit 2']],
      [announced('A', 7), 0, []],
      [
        page(1, frames('A', 7, 8), { headSeq: 8 }),
        0,
        ['deliver A 7 replay', 'deliver A 8 replay', 'caught up A 8'],
      ],
    ],
    feed,
  )
})

test('serving/2: entries that an announcement had no room for are read at once', (t) => {
  const { feed } = serve([position('A', 5)])
  play(
    t,
    [
      [announced('A', 6, 6, { headSeq: 8 }), 0, ['deliver A 6 live', 'read 1: A after 6 limit 2']],
      [
        page(1, frames('A', 7, 8), { headSeq: 8 }),
        0,
        ['deliver A 7 replay', 'deliver A 8 replay', 'caught up A 8'],
      ],
    ],
    feed,
  )
})

test('serving/3: entries announced while a page is read are read behind it', (t) => {
  const { feed } = serve([position('A', 6, 5)])
  play(
    t,
    [
      [announced('A', 7, 9), 0, []],
      [
        page(1, frames('A', 6), { headSeq: 6 }),
        0,
        ['deliver A 6 replay', 'read 2: A after 6 limit 3'],
      ],
      [
        page(2, frames('A', 7, 9), { headSeq: 9 }),
        0,
        ['deliver A 7 replay', 'deliver A 8 replay', 'deliver A 9 replay', 'caught up A 9'],
      ],
    ],
    feed,
  )
})

test('backlog/2: a page that brings nothing new is asked for again after a tick, not at once', (t) => {
  const { feed } = serve([position('A', 6, 5)])
  play(
    t,
    [
      [page(1, [], { headSeq: 5 }), 0, []],
      [announced('A', 7), 0, []],
      [TICK, 0, ['read 2: A after 5 limit 2']],
      [{ kind: 'postponed', ticket: 2 }, 0, []],
      [TICK, 0, ['read 3: A after 5 limit 2']],
    ],
    feed,
  )
})

test('backlog/2: a session that waits for a tick has one within a second, others at their time', (t) => {
  const { session, feed } = serve([position('A', 6, 5)])
  t.is(session.tickAt(START), START + HEARTBEAT_MS)
  feed(page(1, [], { headSeq: 5 }))
  t.is(session.tickAt(START), START + RETRY_READ_MS)
  feed(TICK)
  t.is(session.tickAt(START), START + HEARTBEAT_MS)
  feed({ kind: 'gone' })
  t.is(session.tickAt(START), Infinity)
})

test('while too many pages wait to be read, a session asks for no other before a tick', (t) => {
  const { feed } = serve(['A', 'B'].map((letter) => position(letter, 9, 8)))
  play(
    t,
    [
      [{ kind: 'postponed', ticket: 1 }, 0, []],
      [announced('A', 10), 0, []],
      [TICK, 0, ['read 2: A after 8 limit 2, B after 8 limit 1']],
    ],
    feed,
  )
})

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

test('serving/1: entries of a page that were sent already are left out', (t) => {
  const { feed } = serve([position('A', 5, 4)])
  t.deepEqual(feed(page(1, frames('A', 3, 5), { headSeq: 5 })), [
    'deliver A 5 replay',
    'caught up A 5',
  ])
})

test('a subscription made while connected is caught up, and the end of one is sent', (t) => {
  const { session, feed } = serve([position('A', 5)])
  play(
    t,
    [
      [
        { kind: 'subscribed', position: position('B', 3, 0, 3) },
        0,
        ['subscribed B 0/3', 'read 1: B after 0 limit 3'],
      ],
      [{ kind: 'subscribed', position: position('B', 3, 0, 3) }, 0, []],
      [page(1, frames('B', 2), { headSeq: 3 }), 0, ['deliver B 2 replay', 'caught up B 3']],
      [
        { kind: 'unsubscribed', channelId: channel('B'), reason: 'channel_deleted' },
        0,
        ['channel_deleted B'],
      ],
      [{ kind: 'unsubscribed', channelId: channel('B'), reason: 'unsubscribed' }, 0, []],
      [announced('B', 4), 0, []],
    ],
    feed,
  )
  t.is(session.unacknowledged.entries, 0)
})

test('a device that subscribed again gets the deletions since its cursor', (t) => {
  const { rest } = serve([position('A', 9, 0, 7)], { cursors: { [channel('A')]: 5 } })
  t.deepEqual(rest, ['acknowledge A 5', 'read 1: A after 5 limit 4 deleted since 5'])
})

test("a renewed subscription without news of its end goes on from the device's position", (t) => {
  const { feed } = serve([position('A', 5)])
  const positions = [position('A', 9, 0, 7)]
  t.deepEqual(feed({ kind: 'positions', positions }), [
    'subscribed A 5/9',
    'acknowledge A 5',
    'read 1: A after 5 limit 4 deleted since 5',
  ])
})

test('a page for a subscription that was made anew meanwhile is not used', (t) => {
  const { feed } = serve([position('A', 5, 3)])
  play(
    t,
    [
      [
        { kind: 'unsubscribed', channelId: channel('A'), reason: 'unsubscribed' },
        0,
        ['unsubscribed A'],
      ],
      [
        { kind: 'subscribed', position: position('A', 6, 0, 6) },
        0,
        ['subscribed A 0/6', 'read 2: A after 0 limit 6'],
      ],
      [page(1, frames('A', 4, 5), { headSeq: 5 }), 0, []],
      [page(2, [], { headSeq: 6 }), 0, ['caught up A 6']],
    ],
    feed,
  )
})

test('regular checks of positions find entries that the bus has lost', (t) => {
  const { feed } = serve([position('A', 5)])
  play(
    t,
    [
      [TICK, CHECK_EVERY_MS - 1, ['ping']],
      [TICK, CHECK_EVERY_MS, ['read positions']],
      [
        { kind: 'positions', positions: [position('A', 6, 5)] },
        CHECK_EVERY_MS,
        ['read 1: A after 5 limit 1'],
      ],
    ],
    feed,
  )
})

test('frames/1: the payload of an entry is in the frame as it was written', (t) => {
  const payload = '{"__proto__":1,"attrs":{"a":1e2, "b" : "\\u0041"}}'
  t.true(frameOf(entry('A', 1, payload), 'live').text.includes(`"payload":${payload}}`))
})
