import test from 'ava'

import { createBudget } from '#src/acceptance/budget'
import { FakeTime } from '#test/support/fake-timers'

const LIMITS = { perAddress: 60, total: 1200 }

test('budget/1: an address has 60 requests in a minute, and 60 more in the next', (t) => {
  const time = new FakeTime(1_000)
  const budget = createBudget(LIMITS, time.nowMs)
  for (let count = 1; count <= 60; count += 1) t.is(budget.take('a'), undefined)
  time.advance(59_999)
  t.deepEqual(budget.take('a'), { limit: 60, resetMs: 1 })
  t.is(budget.take('b'), undefined)
  time.advance(1)
  t.is(budget.take('a'), undefined)
})

test('budget/1: all addresses together have 1200 requests in a minute', (t) => {
  const time = new FakeTime(1_000)
  const budget = createBudget(LIMITS, time.nowMs)
  for (let count = 0; count < 1200; count += 1) t.is(budget.take(`address ${count}`), undefined)
  t.deepEqual(budget.take('one more'), { limit: 1200, resetMs: 60_000 })
})

test('budget/2: refused requests of an address take nothing from the others', (t) => {
  const budget = createBudget({ perAddress: 2, total: 3 }, () => 0)
  for (let count = 0; count < 50; count += 1) budget.take('greedy')
  t.is(budget.take('other'), undefined)
  t.deepEqual(budget.take('third'), { limit: 3, resetMs: 60_000 })
})

test('budget/3: an address that comes beyond the total is not remembered', (t) => {
  const budget = createBudget({ perAddress: 1, total: 2 }, () => 0)
  for (const address of ['a', 'b']) t.is(budget.take(address), undefined)
  for (let count = 0; count < 3; count += 1) {
    t.deepEqual(budget.take('c'), { limit: 2, resetMs: 60_000 }, 'not the limit of an address')
  }
})

test('a clock that is set back opens a new window', (t) => {
  let now = 10_000_000
  const budget = createBudget({ perAddress: 1, total: 10 }, () => now)
  t.is(budget.take('a'), undefined)
  now = 1_000
  t.is(budget.take('a'), undefined)
  t.deepEqual(budget.take('a'), { limit: 1, resetMs: 60_000 })
})

test('budget/4: a host does not get more by choosing among its addresses', (t) => {
  const budget = createBudget({ perAddress: 2, total: 100 }, () => 0)
  t.is(budget.take('2001:db8::1'), undefined)
  t.is(budget.take('2001:db8::2'), undefined)
  t.deepEqual(budget.take('2001:db8::3'), { limit: 2, resetMs: 60_000 })
  t.is(budget.take('2001:db8:0:1::1'), undefined)
})
