import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { setImmediate } from 'node:timers/promises'

import test from 'ava'

import { Load } from './load/load.ts'
import { monotonicUs } from './load/monotonic.ts'
import { BODY_BYTES, DUE_BASE_US, prepareRequests, shuffled, stamp } from './load/payload.ts'

const RECIPE = {
  token: 'token',
  keys: ['A'.repeat(43), 'B'.repeat(43)],
  thingCount: 4,
}

test('a request is valid HTTP with a body of 302 bytes, whatever times are written into it', (t) => {
  for (const prepared of prepareRequests({ ...RECIPE, thingCount: 200 })) {
    const [head = '', body = ''] = stamp(prepared, 1_755_000_000_123, 987_654_321)
      .toString()
      .split('\r\n\r\n')
    t.is(Buffer.byteLength(body), BODY_BYTES)
    t.true(head.includes(`content-length: ${BODY_BYTES}`))
    t.like(JSON.parse(body), {
      observed_at: 1_755_000_000_123,
      attrs: { due: DUE_BASE_US + 987_654_321 },
    })
  }
})

test('a thing comes back only after all others', (t) => {
  const order = shuffled(1_000)
  t.is(new Set(order).size, 1_000)
  t.notDeepEqual(
    order,
    order.toSorted((left, right) => left - right),
  )
})

test('load/1: a connection has one request in flight, and every request is answered', async (t) => {
  let inFlight = 0
  let most = 0
  const server = createServer((request, response) => {
    inFlight += 1
    most = Math.max(most, inFlight)
    request.resume().on('end', () =>
      process.nextTick(() => {
        inFlight -= 1
        response.writeHead(200, { 'content-length': 2 }).end('{}')
      }),
    )
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  const port = await portOf(server)
  const load = new Load({
    ports: [port],
    connections: 3,
    requests: prepareRequests(RECIPE),
    // The time in which the last answers may come is longer on a busy machine.
    nowUs: () => monotonicUs() / 30,
  })
  t.teardown(() => load.close())
  const report = await load.run({ pace: { kind: 'open', ratePerSecond: 50_000 }, durationMs: 2 })
  t.like(report, { due: 100, answered: 100, accepted: 100, lost: 0 })
  t.true(most <= 3)
})

test('a connection that the server closed while it was idle is opened again and nothing is lost', async (t) => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-length': 2 }).end('{}'))
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  const load = new Load({
    ports: [await portOf(server)],
    connections: 2,
    requests: prepareRequests(RECIPE),
  })
  t.teardown(() => load.close())
  const request = { pace: { kind: 'open', ratePerSecond: 1_000 }, durationMs: 10 } as const
  await load.run(request)
  server.closeIdleConnections()
  for (let turns = 0; load.openConnections > 0 && turns < 100_000; turns += 1) await setImmediate()
  t.like(await load.run(request), { due: 10, accepted: 10, lost: 0 })
})

test('connections that were silent for seconds are opened anew before they are used', async (t) => {
  let opened = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-length': 2 }).end('{}'))
  }).listen(0, '127.0.0.1')
  server.on('connection', () => (opened += 1))
  t.teardown(() => server.close())
  let aheadUs = 0
  const load = new Load({
    ports: [await portOf(server)],
    connections: 2,
    requests: prepareRequests(RECIPE),
    nowUs: () => monotonicUs() + aheadUs,
  })
  t.teardown(() => load.close())
  const request = { pace: { kind: 'open', ratePerSecond: 1_000 }, durationMs: 10 } as const
  await load.run(request)
  await load.run(request)
  t.is(opened, 2)
  aheadUs = 5_000_000
  t.like(await load.run(request), { due: 10, accepted: 10, lost: 0 })
  t.is(opened, 4)
})

test('connections are spread over the ports, and lost ones move to other ports', async (t) => {
  const counts = new Map<number, number>()
  const answering = async (): Promise<{ server: Server; port: number }> => {
    const server = createServer((request, response) => {
      const to = request.socket.localPort ?? 0
      counts.set(to, (counts.get(to) ?? 0) + 1)
      request.resume().on('end', () => response.writeHead(200, { 'content-length': 2 }).end('{}'))
    }).listen(0, '127.0.0.1')
    t.teardown(() => server.close())
    return { server, port: await portOf(server) }
  }
  const [one, other] = [await answering(), await answering()]
  const load = new Load({
    ports: [one.port, other.port],
    connections: 4,
    requests: prepareRequests(RECIPE),
  })
  t.teardown(() => load.close())
  const request = { pace: { kind: 'open', ratePerSecond: 1_000 }, durationMs: 20 } as const
  t.like(await load.run(request), { due: 20, accepted: 20 })
  t.deepEqual([...counts.values()], [10, 10])
  one.server.close()
  one.server.closeAllConnections()
  const longer = { ...request, durationMs: 200, namesAccepted: true } as const
  const { accepted, lost, due, acceptedDueUs = [] } = await load.run(longer)
  t.is(accepted + lost, due)
  t.is(new Set(acceptedDueUs).size, accepted)
})

test('accepted submissions are listed only on request', async (t) => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(503, { 'content-length': 2 }).end('{}'))
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  const load = new Load({
    ports: [await portOf(server)],
    connections: 1,
    requests: prepareRequests(RECIPE),
  })
  t.teardown(() => load.close())
  const request = { pace: { kind: 'open', ratePerSecond: 1_000 }, durationMs: 5 } as const
  t.is((await load.run(request)).acceptedDueUs, undefined)
  t.deepEqual((await load.run({ ...request, namesAccepted: true })).acceptedDueUs, [])
})

async function portOf(server: Server): Promise<number> {
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
