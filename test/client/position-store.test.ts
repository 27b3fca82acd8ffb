// Every position store does the same; and a device saves before it acknowledges.

import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { filePositions } from '#src/client/node/file-positions'
import { localStoragePositions, memoryPositions } from '#src/client/position-store'
import type { PositionStore } from '#src/client/position-store'
import { WEB } from '#src/client/runtime'
import { watch } from '#src/client/watch'
import { FakeTime } from '#test/support/fake-timers'
import { ScriptedGateway } from '#test/support/scripted-carrier'
import { KEY, channel } from '#test/support/session-words'
import { turn, until } from '#test/support/until'

const A = channel('A')
const B = channel('B')

async function fileIn(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-positions-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return join(folder, 'positions.json')
}

function memoryStorage(initial: Record<string, string> = {}) {
  const values = new Map(Object.entries(initial))
  return {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
  }
}

const STORES: readonly (readonly [
  name: string,
  make: (t: ExecutionContext) => Promise<() => PositionStore>,
])[] = [
  [
    'memory',
    async () => {
      const store = memoryPositions()
      return () => store
    },
  ],
  [
    'localStorage',
    async () => {
      const storage = memoryStorage()
      return () => localStoragePositions('device', storage)
    },
  ],
  [
    'file',
    async (t) => {
      const file = await fileIn(t)
      return () => filePositions(file)
    },
  ],
]

for (const [name, make] of STORES) {
  test(`${name}: load gives the last saved positions, also to a new program`, async (t) => {
    const open = await make(t)
    t.deepEqual(await open().load(), new Map())
    await open().save(new Map([[A, 1]]))
    await open().save(
      new Map([
        [A, 2],
        [B, 0],
      ]),
    )
    t.deepEqual(
      [...(await open().load())],
      [
        [A, 2],
        [B, 0],
      ],
    )
  })
}

test('the error for a text without positions names its source', async (t) => {
  const file = await fileIn(t)
  for (const text of ['', '[]', 'null', '{"A":1}', `{"${A}":-1}`, `{"${A}":"1"}`]) {
    const storage = memoryStorage({ device: text })
    await t.throwsAsync(localStoragePositions('device', storage).load(), { message: /^device / })
    await writeFile(file, text)
    await t.throwsAsync(filePositions(file).load(), { message: /positions\.json does not hold/ })
  }
})

test('only its owner can read the file, and no other file stays', async (t) => {
  const file = await fileIn(t)
  await filePositions(file).save(new Map([[A, 1]]))
  t.is(await readFile(file, 'utf8'), `{"${A}":1}`)
  t.deepEqual(await readdir(join(file, '..')), ['positions.json'])
})

function rig(store: PositionStore) {
  const gateway = new ScriptedGateway()
  const time = new FakeTime(0)
  const handled: number[] = []
  const told: string[] = []
  const session = watch({
    deviceKey: KEY,
    carrier: gateway.carrier,
    store,
    runtime: { ...WEB, after: (delayMs, callback) => time.after(delayMs, callback) },
    onEntry: ({ seq }) => void handled.push(seq),
    onUnsubscribed: (channelId) => void told.push(channelId),
    onState: (state) => {
      if (state.kind === 'waiting') told.push(`${state.reason}: ${String(state.error)}`)
    },
  })
  const acks = (): readonly number[] =>
    gateway.heard.flatMap((frame) => (frame.kind === 'ack' ? [frame.seq] : []))
  return { gateway, time, handled, told, session, acks }
}

test('intake/5: the intake saves positions before it acknowledges them', async (t) => {
  const saving = Promise.withResolvers<void>()
  const saved: unknown[] = []
  const store: PositionStore = {
    load: async () => new Map(),
    save: (positions) => {
      saved.push([...positions])
      return saving.promise
    },
  }
  const { gateway, time, acks, session } = rig(store)
  await gateway.greeted()
  gateway.welcome([[A, 0, 0]])
  gateway.message(A, 1)
  await turn()
  time.advance(200)
  await until('it saves', () => saved.length === 1)
  t.deepEqual([saved, acks()], [[[[A, 1]]], []])
  saving.resolve()
  await until('it acknowledges', () => acks().length === 1)
  await session.close()
})

test('intake/5: the intake does not acknowledge an unsaved position or handle its entry again', async (t) => {
  let failures = 1
  const kept = memoryPositions()
  const store: PositionStore = {
    load: () => kept.load(),
    save: async (positions) => {
      if (failures > 0) {
        failures -= 1
        throw new Error('the disk is full')
      }
      await kept.save(positions)
    },
  }
  const { gateway, time, acks, handled, told, session } = rig(store)
  await gateway.greeted()
  gateway.welcome([[A, 0, 0]])
  gateway.message(A, 1)
  await turn()
  time.advance(200)
  await until('it waits', () => told.length === 1)
  t.deepEqual([told, acks()], [['positions not saved: Error: the disk is full'], []])
  time.advance(30_000)
  t.deepEqual([...(await gateway.greeted(2)).cursors], [[A, 1]])
  gateway.welcome([[A, 1, 1]])
  gateway.message(A, 1)
  gateway.say({ kind: 'caught-up', channelId: A, seq: 1 })
  await turn()
  time.advance(200)
  await until('it acknowledges', () => acks().length === 1)
  t.deepEqual([handled, acks(), [...(await kept.load())]], [[1], [1], [[A, 1]]])
  await session.close()
})

test('intake/6: while a save lasts the next one gathers, however many entries come', async (t) => {
  const saves: { readonly seq: unknown; readonly end: () => void }[] = []
  const store: PositionStore = {
    load: async () => new Map(),
    save: (positions) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      saves.push({ seq: [...positions.values()][0], end: resolve })
      return promise
    },
  }
  const { gateway, acks, handled, session } = rig(store)
  await gateway.greeted()
  gateway.welcome([[A, 0, 0]])
  for (let seq = 1; seq <= 100; seq += 1) gateway.message(A, seq)
  await until('all are handled', () => handled.length === 100)
  saves[0]?.end()
  await until('it saves again', () => saves.length === 2)
  saves[1]?.end()
  await until('it acknowledges', () => acks().length === 2)
  t.deepEqual(
    [saves.map(({ seq }) => seq), acks()],
    [
      [32, 100],
      [32, 100],
    ],
  )
  await session.close()
})

test('a new program resumes from the saved positions', async (t) => {
  const store = memoryPositions(new Map([[A, 7]]))
  const { gateway, session, handled } = rig(store)
  t.deepEqual([...(await gateway.greeted()).cursors], [[A, 7]])
  gateway.welcome([[A, 8, 7]])
  for (const seq of [7, 8]) gateway.message(A, seq)
  await until('the new one is handled', () => handled.length > 0)
  await session.close()
  t.deepEqual(handled, [8])
  t.deepEqual([...(await store.load())], [[A, 8]], 'a close saves')
})

test('a new program reports and forgets a channel whose subscription ended meanwhile', async (t) => {
  const store = memoryPositions(
    new Map([
      [A, 7],
      [B, 3],
    ]),
  )
  const { gateway, session, told } = rig(store)
  await gateway.greeted()
  gateway.welcome([[A, 7, 7]])
  await until('the end of the other one is told', () => told.length === 1)
  await session.close()
  t.deepEqual(told, [B])
  t.deepEqual([...(await store.load())], [[A, 7]])
})

test('a store that cannot be read ends the watch before it connects', async (t) => {
  const error = new Error('no such disk')
  const { gateway, session } = rig({ load: () => Promise.reject(error), save: async () => {} })
  t.deepEqual(await session.ended, { kind: 'failed', error })
  const odd = rig({ load: async () => new Map([['x', 1]]), save: async () => {} })
  t.is((await odd.session.ended).kind, 'failed')
  t.is(gateway.opened, 0)
})
