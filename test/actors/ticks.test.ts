// Goal: a tick of a lane goes the way of every submission, and works off what is due.

import test from 'ava'

import { placeOf } from '#domain/lane'
import type { Tick } from '#domain/submission'
import { encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { running, seqsOf } from '#test/support/running-system'
import { channel, message } from '#test/support/submissions'
import { outage } from '#test/support/memory-turn-store'
import { until } from '#test/support/until'

const TICK: Tick = { model: 'tick', acceptedAt: 5 }

test('W2, W9: a tick moves its lane and takes no seq', async (t) => {
  const { log, store, bus } = await running(t)
  const parts = [message(), TICK, message()].map(encodeSubmission)
  await log.append({ lane: 0, count: 3, payload: encodeBatch(parts) })
  await log.append({ lane: 1, count: 1, payload: encodeBatch([encodeSubmission(TICK)]) })
  await until('lane 0 is applied', () => store.lanes.get(0)?.place === placeOf(1, 0))
  await until('lane 1 is applied', () => store.lanes.get(1)?.place === placeOf(2, 0))
  t.deepEqual(seqsOf(store), [1, 2])
  t.deepEqual([store.operations.size, store.deadLetters], [2, []])
  await until('both are announced', () => bus.announced.length > 1)
  // R7: a tick stands first in its lane's part of a turn.
  const entries = store.feed.map((entry) => ({ channelId: channel(1), entries: [entry] }))
  t.deepEqual(bus.announced, entries)
})

test('W6: a tick that is broken is set aside like every submission', async (t) => {
  const { log, store } = await running(t)
  const parts = [encodeSubmission(message()), '{"model":"tick","acceptedAt":"5"}']
  await log.append({ lane: 0, count: 2, payload: encodeBatch(parts) })
  await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(1, 0))
  t.like(store.deadLetters, [{ index: 1, payload: '{"model":"tick","acceptedAt":"5"}' }])
  t.deepEqual(seqsOf(store), [1])
})

// Method: the commit that moves lane 0 beyond the tick is refused until the tick is set aside.
test('W6: a tick that breaks its turn is set aside alone', async (t) => {
  const { log, store } = await running(t)
  const commit = store.commit.bind(store)
  store.commit = (writes) => {
    const passes = writes.lanes.some(({ from, to }) => from <= placeOf(0, 1) && to > placeOf(0, 1))
    return passes && writes.deadLetters.length === 0
      ? Promise.reject(new Error('a defect'))
      : commit(writes)
  }
  log.put(0, [message(), TICK, message()])
  await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(1, 0))
  t.deepEqual(seqsOf(store), [1, 2])
  t.deepEqual(store.deadLetters, [
    {
      lane: 0,
      position: 1,
      index: 1,
      payload: encodeSubmission(TICK),
      error: 'Error: a defect',
      at: TICK.acceptedAt,
    },
  ])
  t.is(store.operations.size, 2)
})

test('W6: a tick that the database refuses waits: it belongs to no channel', async (t) => {
  const { log, store, waits } = await running(t)
  const commit = store.commit.bind(store)
  store.commit = (writes) =>
    writes.lanes.some(({ lane }) => lane === 0) ? Promise.reject(outage('no')) : commit(writes)
  log.put(0, [TICK])
  await until('it was tried often', () => waits.length > 20)
  t.deepEqual(store.deadLetters, [])
  store.commit = commit
  await until('the lane goes on', () => store.lanes.get(0)?.place === placeOf(1, 0))
})
