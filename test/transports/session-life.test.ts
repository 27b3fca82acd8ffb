// Method: one session, inputs with their time, outputs as text (test/support/session-words.ts).

import test from 'ava'

import type { Position } from '#domain/feed'
import { FRAME_BYTES_MAX } from '#src/schemas/frames'
import { Session } from '#src/transports/session'
import {
  ADMIT_WITHIN_MS,
  HEARTBEAT_MS,
  HELLO_WITHIN_MS,
  IDLE_FRAMES_PER_SECOND_MAX,
  LEAVE_WITHIN_MS,
  WINDOW_ENTRIES_MAX,
} from '#src/transports/signals'
import type { Input } from '#src/transports/signals'
import {
  ack,
  announced,
  channel,
  frames,
  hello,
  inWords,
  page,
  position,
  received,
} from '#test/support/session-words'
import { START, TICK, begin, serve, play } from '#test/support/session-play'

test('the first tick checks a subscription that changed during admission', (t) => {
  const { feed } = begin()
  feed(hello())
  feed({ kind: 'subscribed', position: position('B', 1) })
  feed({ kind: 'admitted', sessionId: 's', serverTime: 1, positions: [] })
  t.deepEqual(feed(TICK), ['read positions'])
})

test('session/1: nothing but a good hello opens a session', (t) => {
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
    [
      { kind: 'received', text: '"'.repeat(65_537) },
      ['error body_too_large', 'close 1009 frame too big'],
    ],
    [hello({ protocol: 'heliograph.v1', client: 'test', other: 1 }), ['admit']],
  ]
  for (const [input, expected] of rows) t.deepEqual(begin().feed(input), expected)
})

test('a session without a hello in time closes', (t) => {
  const { feed } = begin()
  t.deepEqual(feed(TICK, HELLO_WITHIN_MS - 1), [])
  t.deepEqual(feed(TICK, HELLO_WITHIN_MS), ['error request_timeout', 'close 1008 no hello'])
})

test('a refused device gets the reason', (t) => {
  const { feed } = begin()
  feed(hello())
  t.deepEqual(feed({ kind: 'refused', code: 'device_key_not_found' }), [
    'error device_key_not_found',
    'close 1008 device_key_not_found',
  ])
  t.deepEqual(feed({ kind: 'admitted', sessionId: 's', serverTime: 1, positions: [] }), [])
})

test('a device gets a goaway when the store does not answer its hello', (t) => {
  const { feed } = begin()
  feed(hello())
  t.deepEqual(feed(TICK, ADMIT_WITHIN_MS - 1), [])
  t.deepEqual(feed(TICK, ADMIT_WITHIN_MS), [
    'error internal_error',
    'goaway unavailable -',
    'close 1013 unavailable',
  ])
})

test('session/3: a session closes after two pings without an answer', (t) => {
  const { feed } = serve([])
  play(
    t,
    [
      [TICK, HEARTBEAT_MS - 1, []],
      [TICK, HEARTBEAT_MS, ['ping']],
      [received({ type: 'pong' }), HEARTBEAT_MS, []],
      [TICK, 2 * HEARTBEAT_MS, ['ping']],
      [TICK, 3 * HEARTBEAT_MS, ['read positions', 'ping']],
      [TICK, 4 * HEARTBEAT_MS, ['error request_timeout', 'close 1008 no answer']],
      [TICK, 5 * HEARTBEAT_MS, []],
    ],
    feed,
  )
})

test('a session answers a ping with its mark, unless that is too long', (t) => {
  const { feed } = serve([])
  t.deepEqual(feed(received({ type: 'ping', t: 17 })), ['pong 17'])
  t.deepEqual(feed(received({ type: 'ping', t: 'x'.repeat(64) })), [`pong ${'x'.repeat(64)}`])
  t.deepEqual(feed(received({ type: 'ping', t: 'x'.repeat(65) })), ['pong'])
})

test('inbound/1: a session answers mistakes and goes on, with broken frames five times', (t) => {
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

test('inbound/1: a token bucket bounds frames that move no position; acknowledgements are free', (t) => {
  const { feed } = serve([position('A', 0)])
  feed(announced('A', 1, 200))
  for (let seq = 1; seq <= 200; seq += 1) t.deepEqual(feed(ack('A', seq)), [`acknowledge A ${seq}`])
  for (let sent = 0; sent < IDLE_FRAMES_PER_SECOND_MAX; sent += 1) feed(ack('A', 1))
  t.deepEqual(feed(received({ type: 'ping' }), 1_000), ['pong'])
  for (let sent = 1; sent < IDLE_FRAMES_PER_SECOND_MAX; sent += 1) {
    t.deepEqual(feed(received({ type: 'ping' }), 1_000), ['pong'])
  }
  // A fiftieth of a second brings the next one, half of it does not.
  t.deepEqual(feed(received({ type: 'ping' }), 1_020), ['pong'])
  t.deepEqual(feed(received({ type: 'ping' }), 1_030), [
    'error rate_limited',
    'close 1008 too many frames',
  ])
})

test('inbound/1: a device acknowledges every channel that has caught up, however many are quiet', (t) => {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(65 + at)).filter(
    (letter) => !'ILOU'.includes(letter),
  )
  const { feed } = serve(letters.map((letter) => position(letter, 3, 3)))
  for (let sent = letters.length; sent < IDLE_FRAMES_PER_SECOND_MAX; sent += 1) feed(ack('A', 1))
  for (const letter of letters) t.deepEqual(feed(ack(letter, 3)), [])
  // Once: the next one moves nothing.
  for (let sent = 1; sent < letters.length; sent += 1) t.deepEqual(feed(ack('A', 3)), [])
  t.deepEqual(feed(ack('A', 3)), [])
  t.deepEqual(feed(ack('A', 3)), ['error rate_limited', 'close 1008 too many frames'])
})

test('session/2: a session that leaves takes acknowledgements, sends no entries, and closes', (t) => {
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

test('session/2: a session that leaves reads nothing more, although there is room again', (t) => {
  const { feed } = serve([position('A', 0)])
  feed(announced('A', 1, WINDOW_ENTRIES_MAX))
  feed(announced('A', WINDOW_ENTRIES_MAX + 1))
  feed({ kind: 'leave', reason: 'shutdown', retryAfterMs: 1 })
  t.deepEqual(feed(ack('A', WINDOW_ENTRIES_MAX)), ['acknowledge A 256'])
})

test('frames/2: a welcome with long channel names fits into a frame, the other channels follow', (t) => {
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
  const outputs = session.handle(
    { kind: 'admitted', sessionId: 's'.repeat(32), serverTime: START, positions },
    START,
  )
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
