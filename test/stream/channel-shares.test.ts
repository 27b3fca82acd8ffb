import test from 'ava'
import * as fc from 'fast-check'

import { ChannelShares } from '#src/stream/channel-shares'
import { FakeTime } from '#test/support/fake-timers'
import { channel } from '#test/support/submissions'

const [GREEDY, MODEST, MODEST_TOO] = [channel(1), channel(2), channel(3)]

/** Shares of two in each of two lanes; `entered` has what entered, in its order. */
function bench(aloneMax = 2) {
  const time = new FakeTime(1_000)
  const entered: string[] = []
  const enter = (_lane: number, item: string): void => void entered.push(item)
  const options = { lanes: 2, shareMax: 2, aloneMax, timers: time, enter }
  const shares = new ChannelShares<string>(options)
  const add = (items: string, channelId = GREEDY, lane = 0): void => {
    for (const item of items) shares.add(channelId, lane, item, 10)
  }
  /** So many of a channel are applied. */
  const applied = (count: number, channelId = GREEDY, lane = 0): void => {
    for (let each = 0; each < count; each += 1) shares.ended(channelId)
    shares.release(lane, true)
  }
  return { shares, time, entered, add, applied }
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
          shares.ended(GREEDY)
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
