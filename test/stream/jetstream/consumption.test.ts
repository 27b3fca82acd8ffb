// Method: a fake server records the requests of a consumption, and the test sends its answers.

import test from 'ava'
import type { ConsumerInfo } from '@nats-io/jetstream'
import { headers } from '@nats-io/transport-node'
import type { Msg, Subscription, SubscriptionOptions } from '@nats-io/transport-node'

import { Consumption } from '#src/stream/jetstream/consumption'
import type { NatsLink } from '#src/stream/jetstream/connection'
import { FakeLogger } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { realRuntime } from '#test/support/real-runtime'
import { turn } from '#test/support/until'

interface PullRequest {
  readonly batch: number
  readonly max_bytes: number
}

/** Creates consumers and receives requests; sends only the messages that the test asks for. */
class FakeServer {
  isConnected = true
  readonly time = new FakeTime(0)
  /** The start position of each consumer. */
  readonly begins: unknown[] = []
  readonly requests: PullRequest[] = []
  #inbox = ''
  #callback: SubscriptionOptions['callback']
  #listeners: (() => void)[] = []

  readonly link = (): NatsLink => {
    const isConnected = (): boolean => this.isConnected
    return {
      get isConnected() {
        return isConnected()
      },
      nats: {
        publish: (subject, payload) => {
          if (!subject.includes('MSG.NEXT')) return
          this.requests.push(JSON.parse(String(payload)) as PullRequest)
        },
        subscribe: (inbox, options) => {
          this.#inbox = inbox
          this.#callback = options?.callback
          return { unsubscribe: () => {} } as Subscription
        },
      },
      onReconnect: (listener) => {
        this.#listeners.push(listener)
        return () => (this.#listeners = [])
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

  /** Delivers the entry at a position as the consumer's entry number `count`. */
  deliver(position: number, count: number): void {
    this.#send({ subject: 'lane', reply: `$JS.ACK.S.C.1.${position}.${count}.1000000000.0` })
  }

  status(code: number, description: string): void {
    this.#send({ subject: this.#inbox, headers: headers(code, description) })
  }

  reconnect(): void {
    this.isConnected = true
    for (const listener of this.#listeners) listener()
  }

  #send(part: Partial<Msg>): void {
    const message = { data: new Uint8Array(), sid: 1, subject: '', ...part } as Msg
    void this.#callback?.(null, message)
  }
}

async function reading(room = { bytes: 1000 }, stream = { hasMore: false }) {
  const server = new FakeServer()
  const { time } = server
  const received: number[] = []
  const consumption = new Consumption(
    {
      connection: server.link(),
      manager: server.manager,
      logger: new FakeLogger(),
      timers: time,
      monotonicMs: time.nowMs,
      entropy: realRuntime.entropy,
    },
    {
      stream: 'S',
      subject: 'lane',
      begin: () => received.at(-1) ?? 0,
      room: () => room.bytes,
      receive: ({ position }) => void received.push(position),
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
  return { server, consumption, received, pass, room }
}

test('consumption/1: after a gap a new consumer begins behind the last entry received', async (t) => {
  const { server, received, pass } = await reading()
  server.deliver(4, 1)
  server.deliver(9, 3)
  await pass(0)
  t.deepEqual([received, server.begins], [[4], [1, 5]])
  server.deliver(7, 1)
  server.deliver(9, 2)
  t.deepEqual(received, [4, 7, 9])
})

test('consumption/1: after a reconnection a new consumer begins behind the last entry', async (t) => {
  const { server, received, pass } = await reading()
  server.deliver(4, 1)
  server.isConnected = false
  await pass(10_000)
  t.deepEqual(server.begins, [1], 'it sends nothing without a connection')
  server.reconnect()
  await pass(0)
  t.deepEqual([received, server.begins], [[4], [1, 5]])
})

test('consumption/2: a consumption requests as many bytes as there is room for, and none without room', async (t) => {
  const { server, consumption, room } = await reading({ bytes: 0 })
  t.deepEqual(server.requests, [])
  room.bytes = 700
  consumption.request()
  consumption.request()
  t.deepEqual(
    server.requests.map(({ max_bytes: bytes }) => bytes),
    [700],
  )
  server.status(409, 'Message Size Exceeds MaxBytes')
  room.bytes = 0
  consumption.request()
  t.is(server.requests.length, 1)
})

test('consumption/3: a new consumer replaces one that sends no heartbeat in time', async (t) => {
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

/** Lets half seconds pass, after each of which the server sends a heartbeat. */
async function onlyHeartbeats(
  { server, pass }: Awaited<ReturnType<typeof reading>>,
  count: number,
): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) {
    await pass(500)
    server.status(100, 'Idle Heartbeat')
  }
}

test('consumption/4: a new consumer replaces one that sends heartbeats but lacks an entry', async (t) => {
  const stream = { hasMore: false }
  const bench = await reading({ bytes: 1000 }, stream)
  bench.server.deliver(4, 1)
  await onlyHeartbeats(bench, 40)
  t.deepEqual(bench.server.begins, [1], 'the stream has no further entry')
  stream.hasMore = true
  await onlyHeartbeats(bench, 6)
  t.deepEqual(bench.server.begins, [1, 5])
})

test('consumption/4: a consumer whose entries arrive a little late stays', async (t) => {
  const bench = await reading({ bytes: 1000 }, { hasMore: true })
  for (let position = 1; position <= 10; position += 1) {
    await onlyHeartbeats(bench, 4)
    bench.server.deliver(position, position)
  }
  t.deepEqual(bench.server.begins, [1])
})

test('a consumption recreates a deleted consumer and repeats an expired request', async (t) => {
  const { server, pass } = await reading()
  server.status(408, 'Request Timeout')
  t.is(server.requests.length, 2)
  server.status(409, 'Consumer Deleted')
  await pass(0)
  t.is(server.begins.length, 2)
})

test('a stopped consumption sends no request and creates no consumer', async (t) => {
  const { server, consumption, received, pass } = await reading()
  consumption.stop()
  server.deliver(1, 1)
  await pass(60_000)
  t.deepEqual([received, server.begins.length, server.requests.length], [[], 1, 1])
})
