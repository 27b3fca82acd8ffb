import test from 'ava'

import { Concurrency } from '#src/dispatch/concurrency'
import type { Place } from '#src/dispatch/concurrency'

async function entered(concurrency: Concurrency, count: number): Promise<Place[]> {
  const places: Place[] = []
  for (let index = 0; index < count; index += 1) {
    void concurrency.enter().then((place) => place && places.push(place))
  }
  await new Promise((resolve) => setImmediate(resolve))
  return places
}

test('concurrency/1: at most the limit is under way, in the order of asking', async (t) => {
  const concurrency = new Concurrency({ first: 2, most: 8 })
  const places = await entered(concurrency, 5)
  t.is(places.length, 2)
  t.is(concurrency.underWay, 2)
  const [first] = places
  if (first === undefined) return t.fail('a place')
  concurrency.leave(first, 'answered')
  await new Promise((resolve) => setImmediate(resolve))
  t.is(concurrency.underWay, 2)
  t.deepEqual(
    places.map(({ number }) => number),
    [1, 2, 3],
  )
  return undefined
})

test('answers raise the limit up to its most', async (t) => {
  const concurrency = new Concurrency({ first: 2, most: 4 })
  for (let round = 0; round < 40; round += 1) {
    for (const place of await entered(concurrency, concurrency.limit)) {
      concurrency.leave(place, 'answered')
    }
  }
  t.is(concurrency.limit, 4)
})

test('concurrency/2: a storm of refusals lowers the limit once a round, and never below one', async (t) => {
  const concurrency = new Concurrency({ first: 64, most: 64 })
  for (const place of await entered(concurrency, 64)) concurrency.leave(place, 'failed')
  t.is(concurrency.limit, 32)
  for (const place of await entered(concurrency, 32)) concurrency.leave(place, 'refused')
  t.is(concurrency.limit, 25)
  for (let round = 0; round < 20; round += 1) {
    for (const place of await entered(concurrency, concurrency.limit)) {
      concurrency.leave(place, 'failed')
    }
  }
  t.is(concurrency.limit, 1)
})

test('the bound of a circuit comes before the limit', async (t) => {
  const concurrency = new Concurrency({ first: 8, most: 8 })
  concurrency.pass(0)
  const places = await entered(concurrency, 4)
  t.is(places.length, 0)
  concurrency.pass(1)
  await new Promise((resolve) => setImmediate(resolve))
  t.is(places.length, 1)
  concurrency.pass(Number.POSITIVE_INFINITY)
  await new Promise((resolve) => setImmediate(resolve))
  t.is(places.length, 4)
})

test('once closed nobody enters, and waiting callers are refused', async (t) => {
  const concurrency = new Concurrency({ first: 1, most: 1 })
  const [place] = await entered(concurrency, 1)
  const waiting = concurrency.enter()
  concurrency.close()
  t.is(await waiting, undefined)
  t.is(await concurrency.enter(), undefined)
  t.not(place, undefined)
})
