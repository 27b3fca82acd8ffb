// Goal: what a body in pieces holds is in proportion to its bytes, whatever the pieces are.

import test from 'ava'

import { ArrivingBody } from '#src/http/arriving-body'
import { Deadlines } from '#src/http/deadlines'
import { UwsExchange } from '#src/http/exchange'
import type { Traffic } from '#src/http/traffic'
import { Unread } from '#src/http/unread'
import { FakeTime } from '#test/support/fake-timers'
import { heapAfterCollection } from '#test/support/heap'

const BYTES = 60_000
const nothing = (): void => {}

function trafficOf(): Traffic {
  const time = new FakeTime(0)
  const times = { timers: time, monotonicMs: time.monotonicMs }
  return {
    deadlines: new Deadlines({ ...times, timeoutMs: 1_000 }),
    unread: new Unread(times),
    upgraded: nothing,
    commonHeaders: [],
    isDraining: false,
    inFlight: 0,
    bodyBytes: 0,
    streams: new Set(),
    mountedStreams: new Set(),
    settled: nothing,
  }
}

type Arrive = (chunk: ArrayBuffer, isLast: boolean) => void

/** Begins a body; gives what takes its parts. */
const BODIES: Readonly<Record<string, (traffic: Traffic) => Arrive>> = {
  'exchange/2: a body that is read whole': (traffic) => {
    let arrive: Arrive = nothing
    const response = { onAborted: nothing, onData: (handler: Arrive) => void (arrive = handler) }
    const needs = { isHead: false, handshake: undefined }
    const exchange = new UwsExchange(traffic, response as never, needs)
    exchange.readBody(2 * BYTES, nothing)
    return arrive
  },
  'arriving-body/4: a body that its handler leaves': (traffic) => {
    const ports = { traffic, pause: nothing, resume: nothing, expired: nothing }
    const body = new ArrivingBody(2 * BYTES, ports)
    return (chunk, isLast) => body.arrive(new Uint8Array(chunk), isLast)
  },
  'arriving-body/4: a body that its handler has begun to read': (traffic) => {
    const ports = { traffic, pause: nothing, resume: nothing, expired: nothing }
    const body = new ArrivingBody(2 * BYTES, ports)
    body.read(0)
    return (chunk, isLast) => body.arrive(new Uint8Array(chunk), isLast)
  },
}

for (const [name, begin] of Object.entries(BODIES)) {
  test(`${name} in one-byte pieces holds at most a few times its bytes, which count`, (t) => {
    const traffic = trafficOf()
    const bodies = Array.from({ length: 10 }, () => begin(traffic))
    const before = heapAfterCollection() + process.memoryUsage().arrayBuffers
    for (const arrive of bodies) {
      for (let count = 0; count < BYTES; count += 1) arrive(new ArrayBuffer(1), false)
    }
    const held = heapAfterCollection() + process.memoryUsage().arrayBuffers - before
    t.is(traffic.bodyBytes, bodies.length * BYTES)
    t.true(held < 4 * traffic.bodyBytes, `${held} bytes for ${traffic.bodyBytes}`)
  })
}

test('arriving-body/4: a handler gets a body whole, however its parts and its reads alternate', async (t) => {
  const traffic = trafficOf()
  const ports = { traffic, pause: nothing, resume: nothing, expired: nothing }
  const body = new ArrivingBody(BYTES, ports)
  const parts = Array.from({ length: 500 }, (_, at) => Buffer.alloc(at % 7, at % 256))
  const feed = async (): Promise<void> => {
    for (const [at, part] of parts.entries()) {
      body.arrive(part, at === parts.length - 1)
      if (at % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const read: Buffer[] = []
  const fed = feed()
  for await (const chunk of body) read.push(chunk as Buffer)
  await fed
  t.deepEqual(Buffer.concat(read), Buffer.concat(parts))
  t.is(traffic.bodyBytes, 0)
})
