// Method: one session, inputs with their time, outputs as text (test/support/session-words.ts).

import test from 'ava'

import { CHECK_EVERY_MS, HEARTBEAT_MS, RETRY_READ_MS } from '#src/transports/signals'
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

test('a cursor of the hello replaces the acknowledged position and acknowledges', (t) => {
  const { welcome, rest } = serve([position('A', 7, 4)], { cursors: { [channel('A')]: 6 } })
  t.is(welcome, 'welcome A 6/7')
  t.deepEqual(rest, ['acknowledge A 6', 'read 1: A after 6 limit 1'])
})

test('a session also takes a cursor behind the acknowledged position', (t) => {
  const { rest } = serve([position('A', 7, 7)], { cursors: { [channel('A')]: 2 } })
  t.deepEqual(rest, ['read 1: A after 2 limit 5'])
})

test('a device with a cursor beyond the feed begins again', (t) => {
  const { welcome, rest } = serve([position('A', 7, 7)], { cursors: { [channel('A')]: 9 } })
  t.is(welcome, 'welcome A 0/7')
  t.deepEqual(rest, ['gap A 8-9 reset restart', 'read 1: A after 0 limit 7'])
})

test('serving/2: a session drops older entries, and reads the feed after a hole', (t) => {
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

test('serving/2: a session reads entries at once that an announcement had no room for', (t) => {
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

test('serving/3: a session reads entries announced during a read after its page', (t) => {
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

test('backlog/2: after a page without progress the next read waits for a tick', (t) => {
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

test('backlog/2: a session that waits for a tick gets one within a second, others at their time', (t) => {
  const { session, feed } = serve([position('A', 6, 5)])
  t.is(session.tickAt(START), START + HEARTBEAT_MS)
  feed(page(1, [], { headSeq: 5 }))
  t.is(session.tickAt(START), START + RETRY_READ_MS)
  feed(TICK)
  t.is(session.tickAt(START), START + HEARTBEAT_MS)
  feed({ kind: 'gone' })
  t.is(session.tickAt(START), Infinity)
})

test('while too many reads wait, a session starts no other before a tick', (t) => {
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

test('serving/1: a session skips entries of a page that it has sent', (t) => {
  const { feed } = serve([position('A', 5, 4)])
  t.deepEqual(feed(page(1, frames('A', 3, 5), { headSeq: 5 })), [
    'deliver A 5 replay',
    'caught up A 5',
  ])
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

test('frames/1: a frame has the payload of its entry unchanged', (t) => {
  const payload = '{"__proto__":1,"attrs":{"a":1e2, "b" : "\\u0041"}}'
  t.true(frameOf(entry('A', 1, payload), 'live').text.includes(`"payload":${payload}}`))
})
