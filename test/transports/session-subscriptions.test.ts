// Goal: a session follows subscriptions that begin, end or begin again while it runs.
// Method: one session, inputs with their time, outputs as text (test/support/session-words.ts).

import test from 'ava'

import { serve, play } from '#test/support/session-play'
import { announced, channel, frames, page, position } from '#test/support/session-words'

test('a session serves a subscription that begins meanwhile, and sends a notice of one that ends', (t) => {
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

test("a renewed subscription without a notice of its end goes on from the device's position", (t) => {
  const { feed } = serve([position('A', 5)])
  const positions = [position('A', 9, 0, 7)]
  t.deepEqual(feed({ kind: 'positions', positions }), [
    'subscribed A 5/9',
    'acknowledge A 5',
    'read 1: A after 5 limit 4 deleted since 5',
  ])
})

test('a session does not use a page for a subscription that began again meanwhile', (t) => {
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
