// When a watch comes back, and when it does not.

import test from 'ava'

import { memoryPositions } from '#src/client/position-store'
import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { encodeDeviceFrame } from '#src/schemas/frames'
import { WEB } from '#src/client/runtime'
import { watch } from '#src/client/watch'
import { announce, begin, caughtUp } from '#test/support/client-watch'
import type { WatchState } from '#src/client/watch'
import type { Watched } from '#test/support/client-watch'
import { FakeTime } from '#test/support/fake-timers'
import { ScriptedGateway } from '#test/support/scripted-carrier'
import { KEY, channel } from '#test/support/session-words'
import { turn, until } from '#test/support/until'

/** Nobody listens on the discard port. */
const NOBODY = 'ws://127.0.0.1:9'
const A = channel('A')
test('after a lost connection the watch connects again and resumes at the position of the device', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  announce(watched.server)
  await until('it is handled', () => watched.handled.length === 1)
  await watched.server.sessions.close()
  await until('it waits', () => watched.states.at(-1)?.kind === 'waiting')
  t.is(watched.watch.cursors.get(A), 1)
})

test('watch/1, device-session/2: the next session waits for the running handler', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let begun = 0
  const watched = await begin(t, {
    onEntry: () => {
      begun += 1
      return promise
    },
  })
  await caughtUp(watched)
  announce(watched.server)
  await until('the handler begins', () => begun === 1)
  await watched.server.sessions.close()
  for (let turns = 0; turns < 200; turns += 1) await turn()
  t.is(watched.states.at(-1)?.kind, 'open')
  resolve()
  await until('it waits', () => watched.states.at(-1)?.kind === 'waiting')
})

test('watch/2: delays begin again after a session has delivered something', async (t) => {
  let attempts = 0
  const watched = await begin(t, {}, (url) => {
    attempts += 1
    return attempts <= 3 ? NOBODY : url
  })
  for (let failed = 1; failed <= 3; failed += 1) {
    await until('the attempt fails', () => delaysOf(watched).length === failed)
    watched.time.advance(30_000)
  }
  await caughtUp(watched)
  await watched.server.sessions.close()
  await until('it waits', () => delaysOf(watched).length === 4)
  t.deepEqual(delaysOf(watched), [250, 500, 1_000, 250])
})

const delaysOf = ({ states }: Watched): readonly number[] =>
  states.flatMap((state) => (state.kind === 'waiting' ? state.delayMs : []))

test('after a goaway the device connects again after the given time', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  const drained = watched.server.sessions.drain()
  await until('it waits', () => watched.states.at(-1)?.kind === 'waiting')
  t.like(watched.states.at(-1), { kind: 'waiting', reason: 'shutdown', delayMs: 500 })
  watched.time.advance(499)
  t.is(watched.states.at(-1)?.kind, 'waiting')
  watched.time.advance(1)
  await until('it comes back', () => watched.states.at(-1)?.kind !== 'waiting')
  watched.server.time.advance(2_000)
  await drained
})

test('watch/3, device-session/1: a replaced device does not connect again', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  const newer = watch({ baseUrl: watched.server.baseUrl, deviceKey: KEY, onEntry: () => {} })
  t.deepEqual(await watched.watch.ended, { kind: 'replaced' })
  await newer.close()
  t.deepEqual(await newer.ended, { kind: 'closed' })
})

test('watch/3, device-session/1: a refused device does not connect again and gives the reason', async (t) => {
  const rows = [
    [{ deviceKey: '9'.repeat(32) }, 'device_key_not_found'],
    [{ gatewayToken: 'the-token', token: 'wrong' }, 'authentication_failed'],
  ] as const
  for (const [options, code] of rows) {
    const { watch: watched } = await begin(t, options)
    const end = await watched.ended
    t.is(end.kind === 'refused' ? end.error.code : end.kind, code)
  }
})

test('the watch ends a silent connection', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  watched.time.advance(75_000)
  t.is(watched.states.at(-1)?.kind, 'open')
  watched.time.advance(75_000)
  await until('it waits', () => watched.states.at(-1)?.kind === 'waiting')
  t.like(watched.states.at(-1), { reason: 'silence' })
})

test('delays grow and are random while the gateway does not answer', async (t) => {
  const time = new FakeTime(0)
  const delays: number[] = []
  const watched = watch({
    // Nobody listens on the discard port.
    baseUrl: 'http://127.0.0.1:9',
    deviceKey: KEY,
    runtime: {
      ...WEB,
      after: (delayMs, callback) => time.after(delayMs, callback),
      random: (below) => Math.floor(below / 2),
    },
    onEntry: () => {},
    onState: (state) => {
      if (state.kind === 'waiting') delays.push(state.delayMs)
    },
  })
  for (let attempts = 1; attempts <= 9; attempts += 1) {
    await until('the attempt fails', () => delays.length === attempts)
    time.advance(30_000)
  }
  t.deepEqual(delays, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000])
  await watched.close()
})

test('a watch that its own handler closes waits for nothing and opens nothing', async (t) => {
  for (const last of ['waiting', 'connecting'] as const) {
    const kinds: string[] = []
    let opened = 0
    const onState = ({ kind }: WatchState): void => {
      kinds.push(kind)
      if (kinds.includes('waiting') && kind === last) void watched.watch.close()
    }
    const watched = await begin(t, { onState }, (url) => {
      opened += 1
      return url
    })
    await caughtUp(watched)
    await watched.server.sessions.close()
    await until('it waits', () => kinds.includes('waiting'))
    if (last === 'connecting') watched.time.advance(30_000)
    t.deepEqual(await watched.watch.ended, { kind: 'closed' })
    t.is(kinds.at(-1), last)
    t.is(opened, 1)
  }
})

test('the watch reports each error of onState and goes on', async (t) => {
  const reported: unknown[] = []
  const kinds: string[] = []
  const onState = ({ kind }: WatchState): void => {
    kinds.push(kind)
    throw new Error(`told ${kind}`)
  }
  const watched = await begin(t, { onState, report: (error) => void reported.push(error) })
  await caughtUp(watched)
  await watched.server.sessions.close()
  await until('it waits', () => kinds.includes('waiting'))
  t.deepEqual(kinds, ['connecting', 'open', 'waiting'])
  t.deepEqual(
    reported.map(String),
    kinds.map((kind) => `Error: told ${kind}`),
  )
  await watched.watch.close()
  t.deepEqual(await watched.watch.ended, { kind: 'closed' })
})

test("an error of the caller's code becomes one uncaught error of the process", async (t) => {
  const caught = Promise.withResolvers<unknown>()
  const error = new Error('of the caller')
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.once('uncaughtException', (uncaught) => {
    for (const listener of listeners) process.on('uncaughtException', listener)
    caught.resolve(uncaught)
  })
  WEB.report(error)
  t.is(await caught.promise, error)
})

test('a hello that no welcome answers is followed by one that every gateway takes', async (t) => {
  const gateway = new ScriptedGateway()
  gateway.isAway = true
  const time = new FakeTime(0)
  const states: WatchState['kind'][] = []
  const ids = Array.from({ length: 1_200 }, (_, at) => numbered(at))
  const position = Number.MAX_SAFE_INTEGER - 1
  const watched = watch({
    carrier: gateway.carrier,
    deviceKey: KEY,
    client: 'x'.repeat(128),
    store: memoryPositions(new Map(ids.map((id) => [id, position]))),
    runtime: { ...WEB, after: (delayMs, callback) => time.after(delayMs, callback) },
    onEntry: () => undefined,
    onState: ({ kind }) => void states.push(kind),
  })
  t.teardown(() => watched.close())
  const helloOf = async (session: number) => {
    const hello = await gateway.greeted(session)
    return { sent: [...hello.cursors.keys()], bytes: encodeDeviceFrame(hello).length }
  }
  const waited = async () => {
    await until('it waits', () => states.at(-1) === 'waiting')
    time.advance(30_000)
  }
  const again = async (session: number) => {
    gateway.lose()
    await waited()
    return await helloOf(session)
  }
  // No connection, and so no hello, is no reason for a shorter one.
  await waited()
  gateway.isAway = false
  t.deepEqual((await helloOf(1)).sent, ids.slice(-1_000))
  const short = await again(2)
  t.true(short.sent.length >= 100 && short.bytes <= 8_000, `${short.bytes} bytes`)
  t.deepEqual(short.sent, ids.slice(-short.sent.length))
  const first = numbered(0)
  gateway.welcome(ids.slice(0, 200).map((id) => [id, position, position] as const))
  gateway.message(first, position + 1)
  await until('it is handled', () => watched.cursors.get(first) === position + 1)
  // The channel that moved last is one of them.
  t.deepEqual((await again(3)).sent, [...short.sent.slice(1), first])
})

function numbered(at: number): ChannelId {
  const id = parseChannelId(`${at}`.padStart(25, 'A') + '0')
  if (id === undefined) throw new Error('no channel id')
  return id
}
