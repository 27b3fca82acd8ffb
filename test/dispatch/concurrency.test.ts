import test from 'ava'

import { Concurrency } from '#src/dispatch/concurrency'
import type { Slot } from '#src/dispatch/concurrency'

async function acquired(concurrency: Concurrency, count: number): Promise<Slot[]> {
  const slots: Slot[] = []
  for (let index = 0; index < count; index += 1) {
    void concurrency.acquire().then((slot) => slot && slots.push(slot))
  }
  await new Promise((resolve) => setImmediate(resolve))
  return slots
}

test('concurrency/1: callers get slots up to the limit, in the order of their calls', async (t) => {
  const concurrency = new Concurrency({ initial: 2, max: 8 })
  const slots = await acquired(concurrency, 5)
  t.is(slots.length, 2)
  t.is(concurrency.inFlight, 2)
  const [first] = slots
  if (first === undefined) return t.fail('no slot')
  concurrency.release(first, 'answered')
  await new Promise((resolve) => setImmediate(resolve))
  t.is(concurrency.inFlight, 2)
  t.deepEqual(
    slots.map(({ number }) => number),
    [1, 2, 3],
  )
  return undefined
})

test('answers raise the limit up to its maximum', async (t) => {
  const concurrency = new Concurrency({ initial: 2, max: 4 })
  for (let round = 0; round < 40; round += 1) {
    for (const slot of await acquired(concurrency, concurrency.limit)) {
      concurrency.release(slot, 'answered')
    }
  }
  t.is(concurrency.limit, 4)
})

test('a push that says nothing of the provider leaves the limit as it is', async (t) => {
  const concurrency = new Concurrency({ initial: 2, max: 8 })
  for (let round = 0; round < 40; round += 1) {
    for (const slot of await acquired(concurrency, 2)) concurrency.release(slot, 'none')
  }
  t.is(concurrency.limit, 2)
  t.is(concurrency.inFlight, 0)
})

test('concurrency/2: a burst of failures shrinks the limit once, and never below one', async (t) => {
  const concurrency = new Concurrency({ initial: 64, max: 64 })
  for (const slot of await acquired(concurrency, 64)) concurrency.release(slot, 'failed')
  t.is(concurrency.limit, 32)
  for (let round = 0; round < 20; round += 1) {
    for (const slot of await acquired(concurrency, concurrency.limit)) {
      concurrency.release(slot, 'failed')
    }
  }
  t.is(concurrency.limit, 1)
})

test("the circuit's limit overrides a higher one", async (t) => {
  const concurrency = new Concurrency({ initial: 8, max: 8 })
  concurrency.allow(0)
  const slots = await acquired(concurrency, 4)
  t.is(slots.length, 0)
  concurrency.allow(1)
  await new Promise((resolve) => setImmediate(resolve))
  t.is(slots.length, 1)
  concurrency.allow(Number.POSITIVE_INFINITY)
  await new Promise((resolve) => setImmediate(resolve))
  t.is(slots.length, 4)
})

test('a closed concurrency refuses waiting and later callers', async (t) => {
  const concurrency = new Concurrency({ initial: 1, max: 1 })
  const [slot] = await acquired(concurrency, 1)
  const waiting = concurrency.acquire()
  concurrency.close()
  t.is(await waiting, undefined)
  t.is(await concurrency.acquire(), undefined)
  t.not(slot, undefined)
})
