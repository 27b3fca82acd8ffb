// The server is played by the test: what it is asked for is read, what it says is said by hand.

import test from 'ava'
import type { ConsumerInfo } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import type { Msg, Subscription, SubscriptionOptions } from '@nats-io/transport-node'

import { Consumption } from '#src/stream/jetstream/consumption'
import type { Line } from '#src/stream/jetstream/connection'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { turn } from '#test/support/until'

interface Asked {
  readonly batch: number
  readonly max_bytes: number
}

/** A stream's server of which only the words are real. */
class PlayedServer {
  isConnected = true
  readonly time = new FakeTime(0)
  /** The position at which each consumer begins that was made. */
  readonly begins: unknown[] = []
  readonly asked: Asked[] = []
  #inbox = ''
  #hear: SubscriptionOptions['callback']
  #returned: (() => void)[] = []

  readonly line = (): Line => {
    const isConnected = (): boolean => this.isConnected
    return {
      get isConnected() {
        return isConnected()
      },
      nats: {
        publish: (subject, payload) => {
          if (subject.includes('MSG.NEXT')) this.asked.push(JSON.parse(String(payload)) as Asked)
        },
        subscribe: (inbox, options) => {
          this.#inbox = inbox
          this.#hear = options?.callback
          return { unsubscribe: () => {} } as Subscription
        },
      },
      onReturn: (listener) => {
        this.#returned.push(listener)
        return () => (this.#returned = [])
      },
    }
  }

  readonly manager = {
    consumers: {
      add: (_stream: string, config: { opt_start_seq?: number }) => {
        this.begins.push(config.opt_start_seq)
        return Promise.resolve({ name: 'consumer', num_pending: 0 } as ConsumerInfo)
      },
    },
  }

  /** Delivers the entry at a position as the consumer's so-and-so-many-th. */
  deliver(position: number, count: number): void {
    this.#say({ subject: 'lane', reply: `$JS.ACK.S.C.1.${position}.${count}.1000000000.0` })
  }

  status(code: number, description: string): void {
    this.#say({ subject: this.#inbox, headers: headers(code, description) })
  }

  comesBack(): void {
    for (const listener of this.#returned) listener()
  }

  #say(part: Partial<Msg>): void {
    const message = { data: new Uint8Array(), sid: 1, subject: '', ...part } as Msg
    void this.#hear?.(null, message)
  }
}

async function reading(room = { bytes: 1000 }, stream = { hasMore: false }) {
  const server = new PlayedServer()
  const { time } = server
  const taken: number[] = []
  const consumption = new Consumption(
    {
      connection: server.line(),
      manager: server.manager,
      logger: new FakeLogger(),
      timers: time,
      monotonicMs: time.nowMs,
    },
    {
      stream: 'S',
      subject: 'lane',
      begin: () => ({ kind: 'behind', position: taken.at(-1) ?? 0 }),
      room: () => room.bytes,
      take: ({ position }) => void taken.push(position),
      opened: () => {},
      lacksEntry: async () => stream.hasMore,
    },
  )
  consumption.start()
  await turn()
  const pass = async (byMs: number): Promise<void> => {
    time.advance(byMs)
    await turn()
  }
  return { server, consumption, taken, pass, room }
}

test('consumption/1: an entry that is missing makes a new consumer behind the last one', async (t) => {
  const { server, taken, pass } = await reading()
  server.deliver(4, 1)
  server.deliver(9, 3)
  await pass(0)
  t.deepEqual([taken, server.begins], [[4], [1, 5]])
  server.deliver(7, 1)
  server.deliver(9, 2)
  t.deepEqual(taken, [4, 7, 9])
})

test('consumption/1: when the connection is back a new consumer begins behind the last entry', async (t) => {
  const { server, taken, pass } = await reading()
  server.deliver(4, 1)
  server.isConnected = false
  await pass(10_000)
  t.deepEqual(server.begins, [1], 'nothing is asked of a server that is away')
  server.isConnected = true
  server.comesBack()
  await pass(0)
  t.deepEqual([taken, server.begins], [[4], [1, 5]])
})

test('consumption/2: nothing is asked for without room, and no more than there is', async (t) => {
  const { server, consumption, room } = await reading({ bytes: 0 })
  t.deepEqual(server.asked, [])
  room.bytes = 700
  consumption.more()
  consumption.more()
  t.deepEqual(
    server.asked.map(({ max_bytes: bytes }) => bytes),
    [700],
  )
  server.status(409, 'Message Size Exceeds MaxBytes')
  room.bytes = 0
  consumption.more()
  t.is(server.asked.length, 1)
})

test('consumption/3: a server that is silent for longer than its heartbeats loses its consumer', async (t) => {
  const { server, pass } = await reading()
  for (const _ of [1, 2, 3, 4]) {
    await pass(1000)
    server.status(100, 'Idle Heartbeat')
  }
  t.is(server.begins.length, 1)
  await pass(1500)
  t.is(server.begins.length, 1, 'at the limit')
  await pass(500)
  t.is(server.begins.length, 2)
})

/** Half seconds, with the server's heartbeats between them. */
async function quietly({ server, pass }: Awaited<ReturnType<typeof reading>>, halves: number) {
  for (let half = 0; half < halves; half += 1) {
    await pass(500)
    server.status(100, 'Idle Heartbeat')
  }
}

test('consumption/4: a consumer that lives but lacks an entry of the stream is replaced', async (t) => {
  const stream = { hasMore: false }
  const bench = await reading({ bytes: 1000 }, stream)
  bench.server.deliver(4, 1)
  await quietly(bench, 40)
  t.deepEqual(bench.server.begins, [1], 'nothing is missing')
  stream.hasMore = true
  await quietly(bench, 6)
  t.deepEqual(bench.server.begins, [1, 5])
})

test('consumption/4: an entry that arrives a little late keeps its consumer', async (t) => {
  const bench = await reading({ bytes: 1000 }, { hasMore: true })
  for (let position = 1; position <= 10; position += 1) {
    await quietly(bench, 4)
    bench.server.deliver(position, position)
  }
  t.deepEqual(bench.server.begins, [1])
})

test('a consumer that is gone is made anew, a request that is over is asked again', async (t) => {
  const { server, pass } = await reading()
  server.status(408, 'Request Timeout')
  t.is(server.asked.length, 2)
  server.status(409, 'Consumer Deleted')
  await pass(0)
  t.is(server.begins.length, 2)
})

test('after stop nothing is asked and nothing made', async (t) => {
  const { server, consumption, taken, pass } = await reading()
  consumption.stop()
  server.deliver(1, 1)
  await pass(60_000)
  t.deepEqual([taken, server.begins.length, server.asked.length], [[], 1, 1])
})
