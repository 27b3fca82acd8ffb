import test from 'ava'
import * as fc from 'fast-check'

import type { ChannelId } from '#domain/identity'
import { FEW_RULES } from '#domain/rules/stored'
import type { SubmissionModel } from '#domain/submission'
import { ChannelShares } from '#src/stream/channel-shares'
import { FOLLOWING_MAX } from '#src/stream/following'
import { FakeTime } from '#test/support/fake-timers'
import { channel } from '#test/support/submissions'

const THING: SubmissionModel = 'thing'
const [GREEDY, MODEST, MODEST_TOO] = [channel(1), channel(2), channel(3)]

/**
 * Shares of two in each of two lanes; `entered` has what entered, in its order. The item R changes
 * rules.
 */
function bench(aloneMax = 2, { shareMax = 2, unknownMax = 100 } = {}) {
  const time = new FakeTime(1_000)
  const entered: string[] = []
  const refused: string[] = []
  const shares = new ChannelShares<string>({
    lanes: 2,
    shareMax,
    aloneMax,
    unknownMax,
    timers: time,
    changesRules: (item) => item === 'R',
    enter: (_lane, item) => void entered.push(item),
    refuse: (_lane, item) => void refused.push(item),
  })
  const add = (items: string, channelId = GREEDY, lane = 0): void => {
    for (const item of items) shares.add(channelId, lane, item, 10)
  }
  /** So many of a channel are applied. */
  const applied = (count: number, channelId = GREEDY, lane = 0, model = THING): void => {
    for (let each = 0; each < count; each += 1) shares.ended({ channelId, model })
    shares.release(lane, true)
  }
  return { shares, time, entered, refused, add, applied }
}

test('channel-shares/1: what a channel has beyond its share waits, and other channels do not', (t) => {
  const { shares, entered, add, applied } = bench()
  add('abcde')
  add('xy', MODEST)
  t.is(entered.join(''), 'abxy')
  t.is(shares.waiting, 3)
  applied(1)
  t.is(entered.join(''), 'abxyc')
  applied(2)
  t.is(entered.join(''), 'abxycde')
  t.is(shares.waiting, 0)
})

test('channel-shares/1: a channel that is alone on the way of its lane has a larger share', (t) => {
  const { entered, add, applied } = bench(4)
  add('x', MODEST, 1)
  add('abcdef')
  t.is(entered.join(''), 'xabcd')
  add('y', MODEST_TOO)
  applied(1)
  t.is(entered.join(''), 'xabcdy')
  applied(1, MODEST_TOO)
  t.is(entered.join(''), 'xabcdye')
})

test('channel-shares/2: the submissions of a channel enter in their order, whatever ends when', (t) => {
  const step = fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.boolean())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { shares, entered, add } = bench()
      let added = 0
      let ended = 0
      for (const [ending, adding, isReleased] of steps) {
        for (let each = 0; each < ending && ended < entered.length; each += 1, ended += 1) {
          shares.ended({ channelId: GREEDY, model: THING })
        }
        if (isReleased) shares.release(0, true)
        for (let each = 0; each < adding; each += 1) add(String.fromCharCode(0x4e00 + added++))
        t.true(entered.length - ended <= 2) // channel-shares/1
        t.is(entered.length + shares.waiting, added)
      }
      t.deepEqual(entered, entered.toSorted())
    }),
  )
})

test('channel-shares/3: submissions enter when their lane applies nothing, until it does', (t) => {
  const { shares, time, entered, add, applied } = bench()
  add('abcd')
  time.advance(999)
  applied(1)
  t.is(entered.join(''), 'abc')
  time.advance(1_000)
  t.is(entered.join(''), 'abc') // It had applied something since the watch began.
  add('x', MODEST, 1)
  time.advance(1_000)
  t.is(entered.join(''), 'abcxd')
  add('ef')
  t.is(entered.join(''), 'abcxdef')

  applied(4)
  add('ghi')
  t.is(entered.join(''), 'abcxdefg')
  t.is(shares.waiting, 2)
  shares.release(1, true)
  t.is(shares.waiting, 2)
})

test('a channel counts its unanswered submissions and their bytes', (t) => {
  const { shares, add } = bench()
  add('abc')
  t.like(shares.unansweredOf(GREEDY), { unanswered: 3, bytes: 30 })
  shares.answered(GREEDY, 10)
  t.like(shares.unansweredOf(GREEDY), { unanswered: 2, bytes: 20 })
  t.like(shares.unansweredOf(MODEST), { unanswered: 0, bytes: 0 })
})

test('following/1: of a channel with a thousand rules four submissions are on their way, others go on', (t) => {
  const { shares, entered, add, applied } = bench(1_024, { shareMax: 256 })
  add('a')
  shares.tell([[GREEDY, 1_000]])
  applied(1)
  add('bcdefgh')
  add('xyz', MODEST)
  t.is(entered.join(''), 'abcdexyz')
  t.is(shares.following, 4_000)
  applied(1)
  t.is(entered.join(''), 'abcdexyzf')
  shares.tell([[GREEDY, 0]])
  shares.release(0, true)
  t.is(entered.join(''), 'abcdexyzfgh')
  t.is(shares.following, 0)
})

// Method: a channel that is told to have so many rules sends a thousand submissions.
for (const [reach, most] of [
  [FEW_RULES, 1_000],
  [FEW_RULES + 1, Math.floor(FOLLOWING_MAX / 2 / (FEW_RULES + 1))],
  [100, 40],
  [1_000, 4],
] as const) {
  test(`following/1: of a channel with ${reach} rules ${most} submissions are on their way`, (t) => {
    const { shares, entered, add, applied } = bench(1_024, { shareMax: 256 })
    add('a')
    shares.tell([[GREEDY, reach]])
    applied(1)
    add('b'.repeat(1_000))
    t.is(entered.length - 1, most)
  })
}

test('following/1: what follows is bounded over the channels of all lanes, but a share of each goes', (t) => {
  const { shares, entered, add } = bench(1_024, { shareMax: 256 })
  const channels = Array.from({ length: 100 }, (_, number) => channel(100 + number))
  for (const [index, id] of channels.entries()) {
    add('a', id, index % 2)
    shares.ended({ channelId: id, model: THING })
  }
  shares.tell(channels.map((id) => [id, 1_000]))
  entered.length = 0
  for (const [index, id] of channels.entries()) add('bbbbb', id, index % 2)
  t.is(entered.length, Math.floor(FOLLOWING_MAX / 1_000))
  t.true(shares.following <= FOLLOWING_MAX)

  add('m', MODEST)
  shares.tell([[MODEST, 20]])
  shares.ended({ channelId: MODEST, model: THING })
  add('m'.repeat(20), MODEST)
  t.is(entered.filter((item) => item === 'm').length - 1, Math.floor(256 / 20))
})

test('channel-shares/4: channels with many rules take turns, whichever lane applies', (t) => {
  const { shares, entered, add } = bench(1_024, { shareMax: 256 })
  const ids = [GREEDY, MODEST, MODEST_TOO]
  for (const [index, id] of ids.entries()) {
    add('.', id, index % 2)
    shares.ended({ channelId: id, model: THING })
  }
  shares.tell(ids.map((id) => [id, 4_000]))
  entered.length = 0
  add('aaa', GREEDY, 0)
  add('bbb', MODEST, 1)
  add('ccc', MODEST_TOO, 0)
  t.is(entered.join(''), 'ab')
  const end = (channelId: ChannelId, lane: number): void => {
    shares.ended({ channelId, model: THING })
    shares.release(lane, true)
  }
  end(MODEST, 1)
  end(GREEDY, 0)
  t.is(entered.join(''), 'abba')
  end(MODEST, 1)
  t.is(entered.join(''), 'abbac')
  end(GREEDY, 0)
  t.is(entered.join(''), 'abbacb')
  end(MODEST_TOO, 0)
  t.is(entered.join(''), 'abbacba')
})

test('channel-shares/4: a channel that waits for those of another lane is not refused for that', (t) => {
  const { shares, time, entered, refused, add } = bench(1_024, { shareMax: 256 })
  for (const [id, lane] of [
    [GREEDY, 0],
    [MODEST, 0],
    [MODEST_TOO, 1],
  ] as const) {
    add('.', id, lane)
    shares.tell([[id, 4_000]])
    shares.ended({ channelId: id, model: THING })
    add('a', id, lane)
  }
  t.is(entered.join(''), '.a.a.')
  for (let second = 0; second < 10; second += 1) time.advance(1_000)
  t.is(refused.join(''), '')
  shares.ended({ channelId: GREEDY, model: THING })
  shares.release(0, true)
  t.is(entered.join(''), '.a.a.a')
})

test('following/2: of a channel that nothing is known of a few are on their way until one is applied', (t) => {
  const { shares, entered, add, applied } = bench(100, { shareMax: 100, unknownMax: 4 })
  add('abcdefgh')
  t.is(entered.join(''), 'abcd')
  shares.ended({ channelId: GREEDY, model: THING }, false) // The log does not have it.
  shares.release(0, false)
  t.is(entered.join(''), 'abcde')
  applied(1)
  t.is(entered.join(''), 'abcdefgh')
})

test('following/2: submissions of an unknown channel enter when their lane applies nothing', (t) => {
  const { entered, add, time } = bench(100, { shareMax: 100, unknownMax: 4 })
  add('abcdefgh')
  time.advance(1_000)
  t.is(entered.join(''), 'abcdefgh')
})

test('following/3: changes of rules on their way count before anybody tells of them', (t) => {
  const { shares, entered, add, applied } = bench(1_024, { shareMax: 256 })
  add('a')
  applied(1)
  add('R'.repeat(100))
  add('b'.repeat(100))
  const changes = entered.length - 1
  t.true(changes > 4 && changes < 32, `${changes}`)
  t.true(shares.following <= FOLLOWING_MAX / 2)
  shares.tell([[GREEDY, changes]])
  applied(changes, GREEDY, 0, 'rule')
  t.true(entered.length > 1 + changes)
  t.true(shares.following <= FOLLOWING_MAX)
})

test('channel-shares/4: a channel with many rules is refused alone when its lane stands still', (t) => {
  const { shares, time, entered, refused, add, applied } = bench(1_024, { shareMax: 256 })
  add('a')
  shares.tell([[GREEDY, 1_000]])
  applied(1)
  add('bcdefg')
  add('x'.repeat(300), MODEST)
  for (let second = 0; second < 4; second += 1) time.advance(1_000)
  t.is(entered.filter((item) => item === 'x').length, 300) // channel-shares/3
  t.is(refused.join(''), '')
  time.advance(1_000)
  t.is(refused.join(''), 'fg')
  t.is(shares.waiting, 0)
  applied(4)
  add('hijkl')
  t.is(entered.filter((item) => item !== 'x').join(''), 'abcdehijk')
})
