// Goal: names that nobody answers hold up nothing else, and their look-ups end when they are told.

import { createSocket } from 'node:dgram'
import type { Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { guardedFetch } from '#src/outbound/guarded-fetch'
import { nameLookup } from '#src/outbound/name-lookup'
import { FakeTime } from '#test/support/fake-timers'
import { turn, until } from '#test/support/until'

interface NameServer {
  readonly address: string
  /** The names that it was asked for. */
  readonly asked: readonly string[]
}

/** A name server that knows the addresses of some names, and leaves others unanswered. */
async function startNameServer(
  t: ExecutionContext,
  known: Readonly<Record<string, readonly number[]>> = {},
): Promise<NameServer> {
  const socket: Socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, { port, address }) => {
    const { name, end } = nameIn(query)
    asked.push(name)
    const bytes = known[name]
    if (bytes === undefined) return
    const isA = query.readUInt16BE(end) === 1
    const answer = Buffer.from(query.subarray(0, end + 4))
    answer.writeUInt16BE(0x8180, 2)
    answer.writeUInt16BE(isA ? 1 : 0, 6)
    answer.writeUInt32BE(0, 8)
    // The name again, A, IN, a minute, four bytes. (RFC 1035, 3.2.1)
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...bytes])
    socket.send(isA ? Buffer.concat([answer, record]) : answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked }
}

/** The name of a question, and the place after it. */
function nameIn(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

const GOES_ON = new AbortController().signal

test('a name has the addresses that its name server gives', async (t) => {
  const { address } = await startNameServer(t, { 'client.example': [93, 184, 216, 34] })
  t.deepEqual(await nameLookup([address])('client.example', GOES_ON), ['93.184.216.34'])
})

test('a name of the inner network is looked up like any other, and not fetched', async (t) => {
  const { address } = await startNameServer(t, { 'inner.example': [10, 0, 0, 7] })
  const fetched = guardedFetch({ timers: new FakeTime(0), resolve: nameLookup([address]) })
  await t.throwsAsync(fetched('https://inner.example/'), { message: /not public/ })
})

test('48 names that nobody answers hold up no look-up of the process, and end in time', async (t) => {
  const { address, asked } = await startNameServer(t)
  const time = new FakeTime(0)
  let ended = 0
  const fetched = guardedFetch({
    timers: time,
    resolve: (name, signal) => nameLookup([address])(name, signal).finally(() => (ended += 1)),
  })
  for (let round = 0; round < 3; round += 1) {
    const names = Array.from({ length: 16 }, (_, at) => `n${at}-${round}.example`)
    const waiting = names.map((name) => fetched(`https://${name}/`))
    await until('all are asked for', () => names.every((name) => asked.includes(name)))
    t.true((await lookup('localhost', { all: true })).length > 0)
    await t.throwsAsync(fetched('https://one-more.example/'), { message: /too much/ })
    time.advance(3_000)
    for (const { status } of await Promise.allSettled(waiting)) t.is(status, 'rejected')
    await until('the look-ups have ended', () => ended === 16 * (round + 1))
    await turn()
  }
  t.false(asked.includes('one-more.example'))
})

test('a look-up that is told to end before it begins asks nobody', async (t) => {
  const { address, asked } = await startNameServer(t)
  await t.throwsAsync(nameLookup([address])('client.example', AbortSignal.abort()))
  t.deepEqual(asked, [])
})

test('a look-up ends at once when it is told to, not when its name servers have had their time', async (t) => {
  const { address, asked } = await startNameServer(t)
  const told = new AbortController()
  let hasEnded = false
  const looked = nameLookup([address])('client.example', told.signal)
  const ended = looked.catch(() => (hasEnded = true))
  await until('the name server is asked', () => asked.length === 2)
  told.abort()
  for (let turns = 0; turns < 100; turns += 1) await turn()
  t.true(hasEnded)
  await ended
})
