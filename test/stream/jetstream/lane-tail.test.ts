// Method: a tail has no server. The test gives it entries, and answers its requests to the stream.

import test from 'ava'
import type { Msg } from '@nats-io/transport-node'
import type { NatsLink } from '#src/stream/jetstream/connection'
import { LaneTail } from '#src/stream/jetstream/lane-tail'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { realRuntime } from '#test/support/real-runtime'

const DISCONNECTED: NatsLink = {
  isConnected: false,
  nats: {
    publish: () => {},
    subscribe: () => {
      throw new Error('a tail without a connection subscribes to nothing')
    },
  },
  onReconnect: () => () => {},
}

/** Makes the tail of a lane with the given positions, in a stream that ends at `stream.end`. */
function tailOf(positions: readonly number[], stream: { end: number }) {
  const time = new FakeTime(0)
  const asked: number[] = []
  const tail = new LaneTail(
    {
      connection: DISCONNECTED,
      manager: { consumers: { add: () => Promise.reject(new Error('disconnected')) } },
      logger: new FakeLogger(),
      timers: time,
      monotonicMs: time.nowMs,
      entropy: realRuntime.entropy,
    },
    {
      lane: 1,
      stream: 'S',
      subject: 'lane',
      after: 0,
      bytesMax: () => 1000,
      messageBytesMax: 1000,
      onArrival: () => {},
      endOfStream: async () => stream.end,
      next: async (from) => {
        asked.push(from)
        return positions.find((position) => position >= from)
      },
    },
  )
  const receive = (position: number): void =>
    tail.receive({ position, count: 1, pending: 0, atMs: 0 }, {
      data: new Uint8Array(),
    } as Partial<Msg> as Msg)
  return { tail, receive, asked }
}

test('a tail lacks an entry while the stream holds a later one of its lane', async (t) => {
  const stream = { end: 4 }
  const { tail, receive } = tailOf([2, 4], stream)
  t.true(await tail.lacksEntry())
  receive(2)
  t.true(await tail.lacksEntry())
  receive(4)
  t.false(await tail.lacksEntry())
})

test('a tail asks for its lane only after the stream has grown', async (t) => {
  const stream = { end: 9 }
  const { tail, receive, asked } = tailOf([2], stream)
  receive(2)
  t.false(await tail.lacksEntry())
  t.false(await tail.lacksEntry())
  stream.end = 12
  t.false(await tail.lacksEntry())
  t.deepEqual(asked, [3, 10])
})
