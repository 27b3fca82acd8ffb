import test from 'ava'

import { appliedNotices } from '#actors/announcing'
import type { AppliedTurn } from '#actors/announcing'
import type { Item } from '#actors/turn-item'
import { placeOf } from '#domain/lane'
import { FEW_RULES } from '#domain/rules/stored'
import { channel, thing } from '#test/support/submissions'

/** An item of a lane's channel, which stands at a position of its own. */
const itemOf = (lane: number, position: number, writer?: string): Item => ({
  lane,
  position,
  index: 0,
  placeAfter: placeOf(position, 0),
  submission: thing('update', 'a', { channelId: channel(lane) }),
  ...(writer !== undefined && { writer }),
})

const moved = (lane: number, position: number) => ({
  lane,
  epoch: 1,
  from: 0,
  to: placeOf(position, 0),
})

/** What the channel of a lane decided: its reach, and how many of its rules were changed. */
function outcomeOf(lane: number, reach: number, changed = 0) {
  const rules = Array.from({ length: changed }, () => ({
    ruleId: 'r' as never,
    stored: undefined,
  }))
  const firings = { opened: 0, updated: 0, closed: 0, sent: 0 }
  const ruleEffects = { rules, watches: [], failures: [], firings }
  return [channel(lane), { turn: { lane, reach, ruleEffects } }] as const
}

// Method: the entries of one lane, by their writers; a log with one writer does not name it.
for (const [writers, told] of [
  [['one'], 'one'],
  [['one', 'one'], 'one'],
  [['one', 'two'], undefined],
  [['one', 'two', 'one'], undefined],
  [[undefined], undefined],
] as const) {
  test(`announcing/1: of a turn of ${writers.join(' and ')} is told: ${told ?? 'everybody'}`, (t) => {
    const last = writers.length
    const here = writers.map((writer, index) => itemOf(0, index + 1, writer))
    const items = [...here, itemOf(1, last + 1, 'other')]
    const moves = [moved(0, last), moved(1, last + 1)]
    t.deepEqual(appliedNotices({ items, moves, channels: new Map() }), [
      { notice: { kind: 'applied', lane: 0, position: last }, writer: told },
      { notice: { kind: 'applied', lane: 1, position: last + 1 }, writer: 'other' },
    ])
  })
}

const BOTH: Omit<AppliedTurn, 'channels'> = {
  items: [itemOf(0, 1, 'one'), itemOf(1, 2, 'one')],
  moves: [moved(0, 1), moved(1, 2)],
}

for (const [reach, changed, isTold, writer] of [
  [FEW_RULES, 0, false, 'one'],
  [FEW_RULES + 1, 0, true, 'one'],
  [FEW_RULES + 1, 1, true, undefined],
  [FEW_RULES, 1, true, undefined],
  [0, 1, true, undefined],
] as const) {
  const what = `${reach} rules for a Thing, of which ${changed} are new`
  test(`announcing/2: of ${what}, ${writer ?? 'everybody'} is told: ${isTold}`, (t) => {
    const channels = new Map([outcomeOf(0, 0), outcomeOf(1, reach, changed)])
    const reaches = isTold ? { reaches: [[channel(1), reach]] } : {}
    t.deepEqual<unknown, unknown>(appliedNotices({ ...BOTH, channels }), [
      { notice: { kind: 'applied', lane: 0, position: 1 }, writer: 'one' },
      { notice: { kind: 'applied', lane: 1, position: 2, ...reaches }, writer },
    ])
  })
}
