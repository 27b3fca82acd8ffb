// Method: a watch against sessions over real sockets; the time of the client moves only when a test
// moves it.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { WEB } from '#src/client/runtime'
import { watch } from '#src/client/watch'
import type { Watch, WatchOptions, WatchState } from '#src/client/watch'
import type { Delivery } from '#src/schemas/frames'
import { FakeTime } from '#test/support/fake-timers'
import { KEY, channel, letterOf } from '#test/support/session-words'
import { turn, until } from '#test/support/until'
import { deviceOf, serveWss } from '#test/support/wss-server'
import type { Served } from '#test/support/wss-server'

/** Nobody listens on the discard port. */
const NOBODY = 'ws://127.0.0.1:9/private/ws'
const A = channel('A')
const B = channel('B')

interface Watched {
  readonly server: Served
  readonly time: FakeTime
  readonly watch: Watch
  /** Entries handled, as `A 1`. */
  readonly handled: string[]
  readonly told: string[]
  readonly states: WatchState[]
}

type BeginOptions = Partial<WatchOptions> & {
  readonly gatewayToken?: string
  readonly before?: (server: Served) => void
}

async function begin(
  t: ExecutionContext,
  options: BeginOptions = {},
  urlOf: (url: string) => string = (url) => url,
): Promise<Watched> {
  const { gatewayToken, before, ...more } = options
  const server = await serveWss(t, gatewayToken)
  before?.(server)
  const time = new FakeTime(0)
  const handled: string[] = []
  const told: string[] = []
  const states: WatchState[] = []
  const watched = watch({
    baseUrl: `${server.baseUrl}/`,
    deviceKey: KEY,
    runtime: {
      ...WEB,
      openSocket: (url, protocol) => WEB.openSocket(urlOf(url), protocol),
      after: (delayMs, callback) => time.after(delayMs, callback),
      random: () => 0.5,
    },
    onEntry: (delivery) => {
      handled.push(nameOf(delivery))
    },
    onGap: ({ from, to }) => {
      told.push(`gap ${from}-${to}`)
    },
    onCaughtUp: (channelId, seq) => {
      told.push(`caught up ${letterOf(channelId)} ${seq}`)
    },
    onChannel: ({ channelId }) => {
      told.push(`channel ${letterOf(channelId)}`)
    },
    onUnsubscribed: (channelId) => {
      told.push(`unsubscribed ${letterOf(channelId)}`)
    },
    onState: (state) => {
      states.push(state)
    },
    ...more,
  })
  t.teardown(() => watched.close())
  return { server, time, watch: watched, handled, told, states }
}

const nameOf = ({ channelId, seq }: Delivery): string => `${letterOf(channelId)} ${seq}`
const caughtUp = ({ told }: Watched): Promise<void> =>
  until('it has caught up', () => told.some((text) => text.startsWith('caught up')))
const announce = ({ bus, model }: Served, channelId = A): void =>
  bus.announce([model.commitMessage(channelId)])
const acked = (server: Served): number | undefined => {
  const id = deviceOf(KEY)
  return id === undefined ? undefined : server.model.positionsNow(id)[0]?.ackedSeq
}

test('entries are handled in order and acknowledged together', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  for (let seq = 1; seq <= 3; seq += 1) announce(watched.server)
  await until('all are handled', () => watched.handled.length === 3)
  t.deepEqual(watched.handled, ['A 1', 'A 2', 'A 3'])
  t.is(watched.watch.cursors.get(A), 3)
  watched.time.advance(200)
  await until('they are acknowledged', () => {
    watched.server.time.advance(1_000)
    return acked(watched.server) === 3
  })
  t.deepEqual(watched.told, ['channel A', 'caught up A 0'])
})

test('many entries are acknowledged without waiting for the timer', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  for (let seq = 1; seq <= 40; seq += 1) announce(watched.server)
  await until('they are acknowledged', () => {
    watched.server.time.advance(1_000)
    return (acked(watched.server) ?? 0) >= 30
  })
  t.pass()
})

test('Q3: a handler that takes its time is waited for', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const begun: string[] = []
  const watched = await begin(t, {
    onEntry: (delivery) => {
      begun.push(nameOf(delivery))
      return promise
    },
  })
  await caughtUp(watched)
  announce(watched.server)
  announce(watched.server)
  await until('the first one begins', () => begun.length === 1)
  for (let turns = 0; turns < 50; turns += 1) await turn()
  t.deepEqual(begun, ['A 1'])
  t.is(watched.watch.cursors.get(A), 0)
  resolve()
  await until('the second one begins', () => begun.length === 2)
})

test('Q2: an entry whose handler failed comes again before those behind it', async (t) => {
  let failures = 1
  const handled: string[] = []
  const watched = await begin(t, {
    onEntry: (delivery) => {
      if (delivery.seq === 2 && failures > 0) {
        failures -= 1
        throw new Error('not now')
      }
      handled.push(nameOf(delivery))
    },
  })
  await caughtUp(watched)
  for (let seq = 1; seq <= 3; seq += 1) announce(watched.server)
  await until('it waits', () => watched.states.some(({ kind }) => kind === 'waiting'))
  t.deepEqual(handled, ['A 1'])
  const waiting = watched.states.findLast(({ kind }) => kind === 'waiting')
  t.true(waiting?.kind === 'waiting' && waiting.error instanceof Error)
  watched.time.advance(30_000)
  await until('all are handled', () => handled.length === 3)
  t.deepEqual(handled, ['A 1', 'A 2', 'A 3'])
})

test('a lost connection is made again and resumes where the device stands', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  announce(watched.server)
  await until('it is handled', () => watched.handled.length === 1)
  await watched.server.sessions.close()
  await until('it waits', () => watched.states.at(-1)?.kind === 'waiting')
  t.is(watched.watch.cursors.get(A), 1)
})

test('R1: the next session waits for the handler under way', async (t) => {
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

test('R2: delays begin anew once a session has brought something through', async (t) => {
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

test('a goaway is obeyed: the device comes back after the time it was given', async (t) => {
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

test('R3: a device that is replaced does not come back', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  const newer = watch({ baseUrl: watched.server.baseUrl, deviceKey: KEY, onEntry: () => {} })
  t.deepEqual(await watched.watch.ended, { kind: 'replaced' })
  await newer.close()
  t.deepEqual(await newer.ended, { kind: 'closed' })
})

test('R3: a device that is refused does not come back and says why', async (t) => {
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

test('the gateway token goes with the hello', async (t) => {
  const watched = await begin(t, { gatewayToken: 'the-token', token: 'the-token' })
  await caughtUp(watched)
  t.pass()
})

test('a connection that falls silent is given up', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  watched.time.advance(75_000)
  t.is(watched.states.at(-1)?.kind, 'open')
  watched.time.advance(75_000)
  await until('it waits', () => watched.states.at(-1)?.kind === 'waiting')
  t.like(watched.states.at(-1), { reason: 'silence' })
})

test('delays grow and are random while nobody answers', async (t) => {
  const time = new FakeTime(0)
  const delays: number[] = []
  const watched = watch({
    // Nobody listens on the discard port.
    baseUrl: 'http://127.0.0.1:9',
    deviceKey: KEY,
    runtime: {
      ...WEB,
      after: (delayMs, callback) => time.after(delayMs, callback),
      random: () => 0.5,
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

test('a device resumes from the cursors that it is given', async (t) => {
  const watched = await begin(t, {
    cursors: new Map([[A, 2]]),
    before: ({ model }) => {
      for (let seq = 1; seq <= 4; seq += 1) model.commitMessage(A)
    },
  })
  await caughtUp(watched)
  t.deepEqual(watched.handled, ['A 3', 'A 4'])
})

test('a restart is told and moves the cursor back', async (t) => {
  const watched = await begin(t, {
    cursors: new Map([[A, 3]]),
    before: ({ model }) => {
      model.commitThing(A, 'kept', 'k', 1)
      model.commitThing(A, 'gone', 'k', 1)
      model.commitMessage(A)
      model.deleteThing(A, 'gone')
      model.commitMessage(A)
      model.forget(A, 4)
    },
  })
  await caughtUp(watched)
  t.deepEqual(watched.told, ['channel A', 'gap 4-4', 'caught up A 5'])
  t.deepEqual(watched.handled, ['A 1', 'A 5'])
})

test('channels come and go while watching', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  const deviceId = deviceOf(KEY)
  if (deviceId === undefined) throw new Error('no device id')
  const { bus, model } = watched.server
  model.subscribe(deviceId, B)
  bus.notify({ kind: 'subscribed', channelId: B, deviceId })
  await until('the channel is told', () => watched.told.includes('caught up B 0'))
  bus.notify({ kind: 'unsubscribed', channelId: B, deviceId })
  await until('its end is told', () => watched.told.includes('unsubscribed B'))
  t.false(watched.watch.cursors.has(B))
})

test('options of the wrong form are refused at once', (t) => {
  const onEntry = (): void => {}
  t.throws(() => watch({ baseUrl: 'http://x', deviceKey: 'short', onEntry }), {
    instanceOf: TypeError,
  })
  t.throws(() => watch({ baseUrl: 'nowhere', deviceKey: KEY, onEntry }), { instanceOf: TypeError })
})
