// A tail without a server: the test hands it entries, and answers its questions for the stream.

import test from 'ava'
import type { Msg } from '@nats-io/transport-node'
import type { Line } from '#src/stream/jetstream/connection'
import { LaneTail } from '#src/stream/jetstream/lane-tail'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'

const AWAY: Line = {
  isConnected: false,
  nats: {
    publish: () => {},
    subscribe: () => {
      throw new Error('nothing is asked of a server that is away')
    },
  },
  onReturn: () => () => {},
}

/** A tail of a lane that holds the given positions, in a stream that ends at `stream.end`. */
function tailOf(positions: readonly number[], stream: { end: number }) {
  const time = new FakeTime(0)
  const asked: number[] = []
  const tail = new LaneTail(
    {
      connection: AWAY,
      manager: { consumers: { add: () => Promise.reject(new Error('away')) } },
      logger: new FakeLogger(),
      timers: time,
      monotonicMs: time.nowMs,
    },
    {
      lane: 1,
      stream: 'S',
      subject: 'lane',
      after: 0,
      bytesMax: () => 1000,
      messageBytesMax: 1000,
      arrived: () => {},
      endOfStream: async () => stream.end,
      next: async (from) => {
        asked.push(from)
        return positions.find((position) => position >= from)
      },
    },
  )
  const take = (position: number): void =>
    tail.take({ position, count: 1, pending: 0, atMs: 0 }, {
      data: new Uint8Array(),
    } as Partial<Msg> as Msg)
  return { tail, take, asked }
}

test('a tail lacks an entry that the stream holds for its lane behind the last one', async (t) => {
  const stream = { end: 4 }
  const { tail, take } = tailOf([2, 4], stream)
  t.true(await tail.lacksEntry())
  take(2)
  t.true(await tail.lacksEntry())
  take(4)
  t.false(await tail.lacksEntry())
})

test('a tail asks for its lane only where the stream has grown', async (t) => {
  const stream = { end: 9 }
  const { tail, take, asked } = tailOf([2], stream)
  take(2)
  t.false(await tail.lacksEntry())
  t.false(await tail.lacksEntry())
  stream.end = 12
  t.false(await tail.lacksEntry())
  t.deepEqual(asked, [3, 10])
})
