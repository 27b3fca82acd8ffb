// Goal: a watch gives each entry to its handler once and acknowledges it afterwards.

import test from 'ava'

import { memoryPositions } from '#src/client/position-store'
import { watch } from '#src/client/watch'
import { acked, announce, begin, caughtUp, nameOf } from '#test/support/client-watch'
import { KEY, channel } from '#test/support/session-words'
import { turn, until } from '#test/support/until'
import { deviceOf } from '#test/support/wss-server'

const A = channel('A')
const B = channel('B')
test('a watch handles entries in order and acknowledges them together', async (t) => {
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

test('a watch acknowledges many entries before the timer', async (t) => {
  const watched = await begin(t)
  await caughtUp(watched)
  for (let seq = 1; seq <= 40; seq += 1) announce(watched.server)
  await until('they are acknowledged', () => {
    watched.server.time.advance(1_000)
    return (acked(watched.server) ?? 0) >= 30
  })
  t.pass()
})

test('intake/3: the next call waits for a slow handler', async (t) => {
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

test('intake/2: an entry whose handler failed comes again before those behind it', async (t) => {
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

test('the gateway token goes with the hello', async (t) => {
  const watched = await begin(t, { gatewayToken: 'the-token', token: 'the-token' })
  await caughtUp(watched)
  t.pass()
})

test('a device resumes from given cursors', async (t) => {
  const watched = await begin(t, {
    store: memoryPositions(new Map([[A, 2]])),
    before: ({ model }) => {
      for (let seq = 1; seq <= 4; seq += 1) model.commitMessage(A)
    },
  })
  await caughtUp(watched)
  t.deepEqual(watched.handled, ['A 3', 'A 4'])
})

test('a watch calls onGap for a restart, and handles its repeated entries', async (t) => {
  const watched = await begin(t, {
    store: memoryPositions(new Map([[A, 3]])),
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

test('positions/1: a restart of many pages repeats no handled Message', async (t) => {
  const watched = await begin(t, {
    store: memoryPositions(new Map([[A, 252]])),
    before: ({ model }) => {
      model.commitThing(A, 'gone', 'k', 1)
      for (let count = 0; count < 125; count += 1) {
        model.commitThing(A, `t${count}`, 'k', 1)
        model.commitMessage(A)
      }
      model.commitMessage(A)
      model.deleteThing(A, 'gone')
      model.commitMessage(A)
      // Retention leaves it so: the tombstone is gone, and every message is there.
      model.channel(A).things.delete('gone')
      model.channel(A).tombstonesRemovedTo = 253
    },
  })
  await caughtUp(watched)
  const things = Array.from({ length: 125 }, (_, count) => `A ${2 * count + 2}`)
  t.deepEqual(watched.told, ['channel A', 'gap 253-253', 'caught up A 254'])
  t.deepEqual(watched.handled, [...things, 'A 254'])
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

test('watch refuses options of the wrong form at once', (t) => {
  const onEntry = (): void => {}
  t.throws(() => watch({ baseUrl: 'http://x', deviceKey: 'short', onEntry }), {
    instanceOf: TypeError,
  })
  for (const baseUrl of ['nowhere', 'localhost:8080', 'ftp://x']) {
    t.throws(() => watch({ baseUrl, deviceKey: KEY, onEntry }), { instanceOf: TypeError })
  }
})
