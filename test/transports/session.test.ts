// Method: one session, inputs with their time, outputs in words (test/support/session-words.ts).

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { FRAME_BYTES_MAX } from '#src/schemas/frames'
import { Session } from '#src/transports/session'
import {
  ADMIT_WITHIN_MS,
  CHECK_EVERY_MS,
  HEARTBEAT_MS,
  HELLO_WITHIN_MS,
  IDLE_FRAMES_PER_SECOND_MAX,
  LEAVE_WITHIN_MS,
  WINDOW_BYTES_MAX,
  WINDOW_ENTRIES_MAX,
} from '#src/transports/signals'
import type { Input } from '#src/transports/signals'
import type { Position } from '#domain/feed'
import {
  ack,
  announced,
  bigFrame,
  channel,
  entry,
  frames,
  hello,
  inWords,
  page,
  position,
  received,
} from '#test/support/session-words'
import { frameOf } from '#src/transports/interest'

const START = 1_000_000
const TICK: Input = { kind: 'tick' }

/** A session, and what it puts out for each input, in words. */
function begin(): {
  session: Session
  feed: (input: Input, afterMs?: number) => readonly string[]
} {
  const session = new Session(START, 1)
  const feed = (input: Input, afterMs = 0): readonly string[] =>
    inWords(session.handle(input, START + afterMs))
  return { session, feed }
}

/** A session that is served; gives what followed the welcome. */
function serve(positions: readonly Position[], helloMore: object = {}) {
  const { session, feed } = begin()
  feed(hello(helloMore))
  const [welcome = '', ...rest] = feed({ kind: 'admitted', sessionId: 's', positions })
  return { session, feed, welcome, rest }
}

type Row = readonly [input: Input, afterMs: number, expected: readonly string[]]

function play(t: ExecutionContext, rows: readonly Row[], feed: ReturnType<typeof begin>['feed']) {
  for (const [index, [input, afterMs, expected]] of rows.entries()) {
    t.deepEqual(feed(input, afterMs), [...expected], `row ${index}`)
  }
}

test('a device that is up to date is welcomed and told so', (t) => {
  const { welcome, rest } = serve([position('A', 7), position('B', 0)])
  t.is(welcome, 'welcome A 7/7 B 0/0')
  t.deepEqual(rest, ['caught up A 7', 'caught up B 0'])
})

test('a device that is behind gets a page, then what is live', (t) => {
  const { rest, feed } = serve([position('A', 7, 4)])
  t.deepEqual(rest, ['read 1: A after 4 limit 100'])
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
  t.deepEqual(rest, ['acknowledge A 6', 'read 1: A after 6 limit 100'])
})

test('a cursor behind the acknowledged position is believed too', (t) => {
  const { rest } = serve([position('A', 7, 7)], { cursors: { [channel('A')]: 2 } })
  t.deepEqual(rest, ['read 1: A after 2 limit 100'])
})

test('a cursor ahead of the feed makes the device begin anew', (t) => {
  const { welcome, rest } = serve([position('A', 7, 7)], { cursors: { [channel('A')]: 9 } })
  t.is(welcome, 'welcome A 0/7')
  t.deepEqual(rest, ['gap A 8-9 reset restart', 'read 1: A after 0 limit 100'])
})

test('S2: older entries are dropped, and a hole leads back to the feed', (t) => {
  const { feed } = serve([position('A', 5)])
  play(
    t,
    [
      [announced('A', 4, 5), 0, []],
      [announced('A', 5, 6), 0, ['deliver A 6 live']],
      [announced('A', 8), 0, ['read 1: A after 6 limit 100']],
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

test('S2: entries that an announcement had no room for are read at once', (t) => {
  const { feed } = serve([position('A', 5)])
  play(
    t,
    [
      [
        announced('A', 6, 6, { headSeq: 8 }),
        0,
        ['deliver A 6 live', 'read 1: A after 6 limit 100'],
      ],
      [
        page(1, frames('A', 7, 8), { headSeq: 8 }),
        0,
        ['deliver A 7 replay', 'deliver A 8 replay', 'caught up A 8'],
      ],
    ],
    feed,
  )
})

test('S3: what is announced while a page is read is read behind it', (t) => {
  const { feed } = serve([position('A', 6, 5)])
  play(
    t,
    [
      [announced('A', 7, 9), 0, []],
      [
        page(1, frames('A', 6), { headSeq: 6 }),
        0,
        ['deliver A 6 replay', 'read 2: A after 6 limit 100'],
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

test('S6: a page that brings nothing new is asked for again after a tick, not at once', (t) => {
  const { feed } = serve([position('A', 6, 5)])
  play(
    t,
    [
      [page(1, [], { headSeq: 5 }), 0, []],
      [announced('A', 7), 0, []],
      [TICK, 0, ['read 2: A after 5 limit 100']],
      [{ kind: 'postponed', ticket: 2 }, 0, []],
      [TICK, 0, ['read 3: A after 5 limit 100']],
    ],
    feed,
  )
})

test('S5: two pages at once are under way, the other channels wait in order', (t) => {
  const behind = ['A', 'B', 'C', 'D'].map((letter) => position(letter, 9, 8))
  const { rest, feed } = serve(behind)
  t.deepEqual(rest, ['read 1: A after 8 limit 100', 'read 2: B after 8 limit 100'])
  play(
    t,
    [
      [
        page(2, frames('B', 9), { headSeq: 9 }),
        0,
        ['deliver B 9 replay', 'caught up B 9', 'read 3: C after 8 limit 100'],
      ],
    ],
    feed,
  )
})

test('N1: beyond 256 unacknowledged entries nothing is pushed until half is acknowledged', (t) => {
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

test('N1: beyond 1 MiB unacknowledged nothing is pushed', (t) => {
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

test('N2: a carrier that holds too much stops the pushing until it has drained to half', (t) => {
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

test('N2: a nearly full window reads nothing until half of it is acknowledged', (t) => {
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
  // Asked for in small pieces, now that entries are known to be large.
  t.regex(feed(ack('A', 8)).at(-1) ?? '', /^read 2: A after 8 limit [4-9]$/)
})

test('a gap is told before what follows it, and is not asked for again', (t) => {
  const { feed } = serve([position('A', 9, 2)])
  t.deepEqual(feed(page(1, frames('A', 7), { headSeq: 9, complete: false, gapTo: 6 })), [
    'gap A 1-6 retention',
    'deliver A 7 replay',
    'read 2: A after 7 limit 100 removed 6',
  ])
})

test('S1: behind a restart the things come from the beginning', (t) => {
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
          'read 2: A after 3 limit 100 removed 8',
        ],
      ],
      [ack('A', 4), 0, ['error validation_failed']],
      [ack('A', 3), 0, ['acknowledge A 3']],
    ],
    feed,
  )
})

test('a restart while entries are owed needs a new session', (t) => {
  const { feed } = serve([position('A', 5)])
  feed(announced('A', 6))
  feed(announced('A', 8))
  const restart = page(1, [], { headSeq: 8, gapTo: 7, restart: true })
  t.deepEqual(feed(restart), ['goaway resync 0'])
})

test('S1: entries of a page that were sent already are left out', (t) => {
  const { feed } = serve([position('A', 5, 4)])
  t.deepEqual(feed(page(1, frames('A', 3, 5), { headSeq: 5 })), [
    'deliver A 5 replay',
    'caught up A 5',
  ])
})

test('S4: an acknowledgement counts once and never beyond what was sent', (t) => {
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

test('a subscription made while connected is caught up, one that ends is told', (t) => {
  const { session, feed } = serve([position('A', 5)])
  play(
    t,
    [
      [
        { kind: 'subscribed', position: position('B', 3, 0, 3) },
        0,
        ['subscribed B 0/3', 'read 1: B after 0 limit 100'],
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
        ['subscribed A 0/6', 'read 2: A after 0 limit 100'],
      ],
      [page(1, frames('A', 4, 5), { headSeq: 5 }), 0, []],
      [page(2, [], { headSeq: 6 }), 0, ['caught up A 6']],
    ],
    feed,
  )
})

test('positions that are checked now and then find what the bus has lost', (t) => {
  const { feed } = serve([position('A', 5)])
  play(
    t,
    [
      [TICK, CHECK_EVERY_MS - 1, ['ping']],
      [TICK, CHECK_EVERY_MS, ['read positions']],
      [
        { kind: 'positions', positions: [position('A', 6, 5)] },
        CHECK_EVERY_MS,
        ['read 1: A after 5 limit 100'],
      ],
    ],
    feed,
  )
})

test('a subscription that changed during admission is checked at the first tick', (t) => {
  const { feed } = begin()
  feed(hello())
  feed({ kind: 'subscribed', position: position('B', 1) })
  feed({ kind: 'admitted', sessionId: 's', positions: [] })
  t.deepEqual(feed(TICK), ['read positions'])
})

test('G1: nothing but a good hello opens a session', (t) => {
  const rows: readonly (readonly [Input, readonly string[]])[] = [
    [announced('A', 1), []],
    [received({ type: 'ping' }), ['error validation_failed', 'close 1008 no hello']],
    [received({ type: 'hello' }), ['error invalid_json_data', 'close 1008 bad hello']],
    [hello({ device_key: 'D'.repeat(32) }), ['error validation_failed', 'close 1008 bad hello']],
    [hello({ protocol: 'other.v1' }), ['error validation_failed', 'close 1008 bad hello']],
    [hello({ cursors: { x: 1 } }), ['error validation_failed', 'close 1008 bad hello']],
    [
      hello({ cursors: { [channel('A')]: -1 } }),
      ['error validation_failed', 'close 1008 bad hello'],
    ],
    [{ kind: 'received', text: '{' }, ['error invalid_json_syntax', 'close 1008 bad hello']],
    [{ kind: 'received', text: '"'.repeat(65_537) }, ['close 1009 frame too big']],
    [hello({ protocol: 'heliograph.v1', client: 'test', other: 1 }), ['admit']],
  ]
  for (const [input, expected] of rows) t.deepEqual(begin().feed(input), expected)
})

test('a device that says no hello in time is closed', (t) => {
  const { feed } = begin()
  t.deepEqual(feed(TICK, HELLO_WITHIN_MS - 1), [])
  t.deepEqual(feed(TICK, HELLO_WITHIN_MS), ['close 1008 no hello'])
})

test('a device that is refused learns why', (t) => {
  const { feed } = begin()
  feed(hello())
  t.deepEqual(feed({ kind: 'refused', code: 'device_key_not_found' }), [
    'error device_key_not_found',
    'close 1008 device_key_not_found',
  ])
  t.deepEqual(feed({ kind: 'admitted', sessionId: 's', positions: [] }), [])
})

test('a store that does not answer a hello sends the device away', (t) => {
  const { feed } = begin()
  feed(hello())
  t.deepEqual(feed(TICK, ADMIT_WITHIN_MS - 1), [])
  t.deepEqual(feed(TICK, ADMIT_WITHIN_MS), [
    'error internal_error',
    'goaway unavailable -',
    'close 1013 unavailable',
  ])
})

test('G3: a device that answers no ping is closed after two of them', (t) => {
  const { feed } = serve([])
  play(
    t,
    [
      [TICK, HEARTBEAT_MS - 1, []],
      [TICK, HEARTBEAT_MS, ['ping']],
      [received({ type: 'pong' }), HEARTBEAT_MS, []],
      [TICK, 2 * HEARTBEAT_MS, ['ping']],
      [TICK, 3 * HEARTBEAT_MS, ['read positions', 'ping']],
      [TICK, 4 * HEARTBEAT_MS, ['close 1008 no answer']],
      [TICK, 5 * HEARTBEAT_MS, []],
    ],
    feed,
  )
})

test('a ping is answered with its own mark, unless that is too long', (t) => {
  const { feed } = serve([])
  t.deepEqual(feed(received({ type: 'ping', t: 17 })), ['pong 17'])
  t.deepEqual(feed(received({ type: 'ping', t: 'x'.repeat(64) })), [`pong ${'x'.repeat(64)}`])
  t.deepEqual(feed(received({ type: 'ping', t: 'x'.repeat(65) })), ['pong'])
})

test('G4: mistakes are answered and survived, broken frames five times', (t) => {
  const broken: Input = { kind: 'received', text: '[1]' }
  const { feed } = serve([])
  play(
    t,
    [
      [received({ type: 'dance' }), 0, ['error validation_failed']],
      [hello(), 0, ['error validation_failed']],
      [received({ type: 'ack', channel_id: 'x', seq: 1 }), 0, ['error invalid_channel_id']],
      [
        received({ type: 'ack', channel_id: channel('A'), seq: 1.5 }),
        0,
        ['error validation_failed'],
      ],
      [broken, 0, ['error invalid_json_data']],
      [{ kind: 'received', text: '{"type"' }, 0, ['error invalid_json_syntax']],
      [broken, 0, ['error invalid_json_data']],
      [broken, 0, ['error invalid_json_data']],
      [broken, 0, ['error invalid_json_data', 'close 1008 broken frames']],
    ],
    feed,
  )
})

test('G4: frames that move nothing are bounded by the second, acknowledgements are not', (t) => {
  const { feed } = serve([position('A', 0)])
  feed(announced('A', 1, 200))
  for (let seq = 1; seq <= 200; seq += 1) t.deepEqual(feed(ack('A', seq)), [`acknowledge A ${seq}`])
  for (let sent = 0; sent < IDLE_FRAMES_PER_SECOND_MAX; sent += 1) feed(ack('A', 1))
  t.deepEqual(feed(received({ type: 'ping' }), 1_000), ['pong'])
  for (let sent = 1; sent < IDLE_FRAMES_PER_SECOND_MAX; sent += 1) {
    t.deepEqual(feed(received({ type: 'ping' }), 1_000), ['pong'])
  }
  t.deepEqual(feed(received({ type: 'ping' }), 1_999), [
    'error rate_limited',
    'close 1008 too many frames',
  ])
})

test('G2: a session that leaves takes acknowledgements, sends no entries, and closes', (t) => {
  const { session, feed } = serve([position('A', 5), position('B', 3, 2)])
  feed(announced('A', 6))
  play(
    t,
    [
      [{ kind: 'leave', reason: 'shutdown', retryAfterMs: 700 }, 0, ['goaway shutdown 700']],
      [announced('A', 7), 0, []],
      [page(1, frames('B', 3), { headSeq: 3 }), 0, []],
      [ack('A', 6), 0, ['acknowledge A 6']],
      [{ kind: 'leave', reason: 'shutdown', retryAfterMs: 1 }, 0, []],
      [TICK, LEAVE_WITHIN_MS - 1, []],
      [TICK, LEAVE_WITHIN_MS, ['close 1001 going away']],
      [ack('A', 6), LEAVE_WITHIN_MS, []],
    ],
    feed,
  )
  t.is(session.phase, 'closed')
})

test('G2: a session that leaves reads nothing more, although there is room again', (t) => {
  const { feed } = serve([position('A', 0)])
  feed(announced('A', 1, WINDOW_ENTRIES_MAX))
  feed(announced('A', WINDOW_ENTRIES_MAX + 1))
  feed({ kind: 'leave', reason: 'shutdown', retryAfterMs: 1 })
  t.deepEqual(feed(ack('A', WINDOW_ENTRIES_MAX)), ['acknowledge A 256'])
})

test('P2: a welcome of channels with long names fits into a frame, the others follow', (t) => {
  const letters = 'ABCDEFGHJKMNPQRSTVWXYZ'
  const positions = Array.from({ length: 2_000 }, (_, at) => {
    const one = letters.charAt(at % 22) + letters.charAt(Math.floor(at / 22) % 22)
    const id = position('A', 5).channelId.slice(0, 20)
    const channelId = parsed(
      `${one}${letters.charAt(Math.floor(at / 484))}${id}000`.slice(0, 25) + '0',
    )
    return { ...position('A', 9_007_199_254_740_991), channelId, channelName: '世'.repeat(128) }
  })
  const session = new Session(START, 0)
  session.handle(hello(), START)
  const outputs = session.handle({ kind: 'admitted', sessionId: 's'.repeat(32), positions }, START)
  const [welcome] = outputs
  t.true(welcome?.kind === 'send' && Buffer.byteLength(welcome.text) <= FRAME_BYTES_MAX)
  const words = inWords(outputs)
  t.is(words[0]?.split(' ').length, 1 + 2 * 200)
  t.is(words.filter((word) => word.startsWith('subscribed')).length, 1_800)
  t.is(words.filter((word) => word.startsWith('caught up')).length, 2_000)
})

const parsed = (text: string): Position['channelId'] => {
  const known = position('A', 1).channelId
  return text.length === known.length ? (text as Position['channelId']) : known
}

test('P1: the payload of an entry is in the frame as it was written', (t) => {
  const payload = '{"__proto__":1,"attrs":{"a":1e2, "b" : "\\u0041"}}'
  t.true(frameOf(entry('A', 1, payload), 'live').text.includes(`"payload":${payload}}`))
})
