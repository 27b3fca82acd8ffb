// Goal: the tally counts and times what the demo really sent and received.
// Method: call a tally in both orders, then read its summary.

import test from 'ava'

import { Tally, summaryLine } from '#src/dev/demo/tally'

test('the tally pairs an answer and its delivery in either order', (t) => {
  const tally = new Tally()
  tally.accepted('a', 100)
  tally.delivered('a', 104)
  tally.delivered('b', 206)
  tally.accepted('b', 200)
  t.deepEqual(tally.summary(), {
    sent: 2,
    delivered: 2,
    refused: 0,
    lastRefusal: undefined,
    p50Ms: 6,
    p99Ms: 6,
  })
  t.true(tally.isComplete)
})

test('a submission without its delivery counts as sent and not as delivered', (t) => {
  const tally = new Tally()
  tally.accepted('a', 1)
  tally.refused('server_busy')
  t.false(tally.isComplete)
  t.is(
    summaryLine(tally.summary()),
    '1 sent, 0 delivered, 1 refused (last: server_busy), no latency measured',
  )
})

test('a repeated delivery counts once', (t) => {
  const tally = new Tally()
  tally.delivered('a', 5)
  tally.delivered('a', 9)
  tally.accepted('a', 1)
  tally.delivered('a', 12)
  t.deepEqual(tally.summary(), {
    sent: 1,
    delivered: 1,
    refused: 0,
    lastRefusal: undefined,
    p50Ms: 4,
    p99Ms: 4,
  })
})

test('the percentiles cover the newest 10,000 deliveries', (t) => {
  const tally = new Tally()
  for (let index = 0; index < 20_000; index += 1) {
    tally.accepted(`op${index}`, 0)
    tally.delivered(`op${index}`, index < 10_000 ? 999 : index - 10_000)
  }
  t.is(
    summaryLine(tally.summary()),
    '20000 sent, 20000 delivered, latency p50 5000 ms, p99 9900 ms',
  )
})
