// Method: a fake retention store gives scripted results and records the limits of each call.

import test from 'ava'

import type { ChannelId } from '#domain/identity'
import type { Notice } from '#domain/ports'
import type { Expired, IdleLimits, RetentionLimits, RetentionStore } from '#domain/retention-ports'
import { removeExpired, ClockLead } from '#src/runtime/engine/removal'
import { channel } from '#test/support/submissions'

const DAY = 86_400_000
const NOW = 1_000 * DAY

class FakeRetention implements RetentionStore {
  readonly idle: IdleLimits[] = []
  readonly limits: RetentionLimits[] = []
  readonly #steps: { readonly rows: number; readonly expired: Expired }[]

  constructor(...steps: readonly (readonly [rows: number, devices: number, ChannelId[]])[]) {
    this.#steps = steps.map(([rows, devices, channels]) => ({
      rows,
      expired: { devices, channels },
    }))
  }

  async expire(limits: IdleLimits): Promise<Expired> {
    this.idle.push(limits)
    return this.#steps[0]?.expired ?? { devices: 0, channels: [] }
  }

  async step(limits: RetentionLimits): Promise<number> {
    this.limits.push(limits)
    return this.#steps.shift()?.rows ?? 0
  }
}

async function removeAll(
  retention: FakeRetention,
  { days = 90, history = 30, steps = 99, isClockAhead = false, passing = 0 } = {},
): Promise<{ readonly notices: readonly Notice[]; readonly rows: readonly number[] }> {
  const notices: Notice[] = []
  const rows: number[] = []
  let left = steps
  let now = NOW - passing
  await removeExpired({
    retention,
    bus: { notify: (notice) => void notices.push(notice) },
    settings: {
      statusRetentionMs: 7 * DAY,
      tierRetentionMs: { '5m': 7 * DAY, '1h': 400 * DAY, '1d': 3_650 * DAY },
      historyRetentionMs: { messagesAndEvents: history * DAY, thingUpdates: DAY },
      deviceRetentionMs: days * DAY,
    },
    runtime: { nowMs: () => (now += passing), wait: () => Promise.resolve() },
    isClockAhead: () => isClockAhead,
    mayGoOn: () => (left -= 1) >= 0,
    removed: (removed) => void rows.push(removed),
  })
  return { notices, rows }
}

test('removeExpired sends a notice for each unused channel that it removed', async (t) => {
  const retention = new FakeRetention([0, 0, [channel(1), channel(2)]], [0, 0, [channel(3)]])
  const { notices } = await removeAll(retention)
  const expected = [1, 2, 3].map((number) => ({
    kind: 'channel-deleted',
    channelId: channel(number),
  }))
  t.deepEqual(notices as unknown, expected)
})

test('removeExpired goes on while a step removes something, and counts the rows', async (t) => {
  const { rows } = await removeAll(new FakeRetention([5, 0, []], [0, 2, []], [0, 0, [channel(1)]]))
  t.deepEqual(rows, [5, 2, 0, 0])
})

test('removal/2: removeExpired leaves what expires meanwhile to the next run', async (t) => {
  const retention = new FakeRetention([5, 0, []], [5, 0, []])
  await removeAll(retention, { passing: 1_000 })
  t.deepEqual(
    new Set(retention.limits.map(({ operations }) => operations)),
    new Set([NOW - 7 * DAY]),
  )
  t.deepEqual(new Set(retention.idle.map(({ nowMs }) => nowMs)), new Set([NOW]))
})

test('removeExpired ends between two steps when the lanes go to another node', async (t) => {
  const retention = new FakeRetention([5, 0, []], [5, 0, []], [5, 0, []])
  t.deepEqual((await removeAll(retention, { steps: 2 })).rows, [5, 5])
})

test('removeExpired keeps unused devices for the setting, and a channel as long as its contents', async (t) => {
  const rows: readonly (readonly [days: number, history: number, channels: number])[] = [
    [90, 30, 90],
    [1, 30, 30],
    [30, 30, 30],
  ]
  for (const [days, history, channels] of rows) {
    const retention = new FakeRetention()
    await removeAll(retention, { days, history })
    t.deepEqual(retention.idle, [
      {
        neverSubscribed: NOW - DAY,
        devices: NOW - (days + 1) * DAY,
        channels: NOW - channels * DAY,
        nowMs: NOW,
      },
    ])
  }
})

test('removeExpired removes records of authorizations at their end, bind sessions a day later', async (t) => {
  const retention = new FakeRetention()
  await removeAll(retention)
  t.like(retention.limits[0], { authorization: NOW, bindSessions: NOW - DAY })
})

test('removal/1: removeExpired removes nothing idle while the clock is ahead, and goes on with rows', async (t) => {
  const retention = new FakeRetention([5, 1, [channel(1)]], [0, 1, [channel(1)]])
  const { notices, rows } = await removeAll(retention, { isClockAhead: true })
  t.deepEqual([notices, rows, retention.idle], [[], [5, 0], []])
})

// Method: each row is the milliseconds by which the monotonic and the wall clock go on, and what is
// said then.
for (const [what, steps] of [
  ['both go on', [[DAY, DAY, false]]],
  [
    'they drift apart slowly',
    [
      [DAY, DAY + 60_000, false],
      [DAY, DAY + 60_000, false],
    ],
  ],
  [
    'the wall clock is set forward and back',
    [
      [1_000, 61_001, true],
      [DAY, DAY, true],
      [1_000, -59_000, false],
    ],
  ],
  ['the wall clock is set back', [[1_000, -DAY, false]]],
  [
    'the wall clock is right for two days after it was set forward',
    [
      [1_000, 400 * DAY, true],
      [2 * DAY - 1, 2 * DAY - 1, true],
      [1, 1, false],
      [1, 1, false],
    ],
  ],
  [
    'the wall clock is set forward twice',
    [
      [1_000, DAY, true],
      [2 * DAY - 1, 3 * DAY, true],
      [1, 1, true],
    ],
  ],
] as const) {
  test(`removal/1: the clock counts as ahead as it should when ${what}`, (t) => {
    const clock = { now: NOW, monotonic: 5 }
    const lead = new ClockLead({ nowMs: () => clock.now, monotonicMs: () => clock.monotonic })
    for (const [monotonic, wall, expected] of steps) {
      clock.monotonic += monotonic
      clock.now += wall
      t.is(lead.isAhead(), expected)
    }
  })
}
