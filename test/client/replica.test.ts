// Method: the test is the gateway: it sends frames, and answers reads from a list of records.

import test from 'ava'

import { memoryPositions } from '#src/client/position-store'
import type { PositionStore } from '#src/client/position-store'
import { openReplica } from '#src/client/replica'
import type { ReplicaOptions } from '#src/client/replica'
import { WEB } from '#src/client/runtime'
import { fakeFetch, refusal, success } from '#test/support/fake-fetch'
import { FakeTime } from '#test/support/fake-timers'
import { ScriptedGateway } from '#test/support/scripted-carrier'
import { KEY, channel } from '#test/support/session-words'
import { turn, until } from '#test/support/until'

const A = channel('A')

const record = (thing_id: string, seq: number, attrs: object, state = 'active') => ({
  thing_id,
  seq,
  attrs,
  state,
  rev: 5,
  changed_at: 1,
  observed_at: 1,
  title: thing_id,
})

type Answers = Readonly<Record<string, (body: Readonly<Record<string, unknown>>) => unknown>>

function rig(
  answers: Answers = {},
  { fetchNever = false, ...options }: Partial<ReplicaOptions> & { fetchNever?: boolean } = {},
) {
  const gateway = new ScriptedGateway()
  const time = new FakeTime(0)
  const asked: string[] = []
  const reported: unknown[] = []
  const replica = openReplica({
    baseUrl: 'http://gateway',
    deviceKey: KEY,
    carrier: gateway.carrier,
    runtime: {
      ...WEB,
      after: (delayMs, callback) => time.after(delayMs, callback),
      report: (error) => void reported.push(error),
      fetch: fakeFetch(({ path, body }) => {
        asked.push(path)
        if (fetchNever) return new Promise<never>(() => {})
        const data = answers[path]?.(body)
        return data === undefined ? refusal(404, 'entity_not_found') : success(data)
      }),
    },
    ...options,
  })
  const changes: string[] = []
  replica.onChange(({ id, before, after }) => {
    changes.push(`${id} ${before?.seq ?? '-'} to ${after?.seq ?? '-'}`)
  })
  return { gateway, time, replica, asked, changes, reported }
}

const plain = (value: object | undefined): object => ({ ...value })
const atSeven = (): PositionStore => memoryPositions(new Map([[A, 7]]))

test('replica/1: Things follow deliveries, and listeners get each change after it', async (t) => {
  const { gateway, replica, asked, changes } = rig()
  await gateway.greeted()
  gateway.welcome([[A, 3, 0]])
  gateway.thing(A, 1, { id: 'x', attrs: { a: 1, b: 1 } })
  gateway.thing(A, 2, { id: 'y' })
  gateway.thing(A, 3, { id: 'x', rev: 2, attrs: { a: null, c: 2 } })
  gateway.thing(A, 4, { id: 'y', rev: 2, state: 'deleted', action: 'delete' })
  gateway.say({ kind: 'caught-up', channelId: A, seq: 4 })
  await replica.caughtUp(A)
  t.deepEqual(plain(replica.thing(A, 'x')?.attrs), { b: 1, c: 2 })
  t.is(replica.thing(A.toLowerCase(), 'x'), replica.thing(A, 'x'), 'in any spelling')
  t.deepEqual([...replica.things(A).keys()], ['x'])
  t.deepEqual(changes, ['x - to 1', 'y - to 2', 'x 1 to 3', 'y 2 to -'])
  t.deepEqual(asked, [])
  t.throws(() => replica.thing('nonsense', 'x'), { instanceOf: TypeError })
  await replica.close()
})

test('replica/2: a program that resumes reads the Things first, page by page', async (t) => {
  const pages = [
    { items: [record('x', 6, { a: 1 }), record('z', 5, {}, 'deleted')], next_cursor: 'c' },
    { items: [record('y', 2, { b: 1 })] },
  ]
  const { gateway, replica, asked } = rig(
    { '/thing/list': ({ cursor }) => pages[cursor === 'c' ? 1 : 0] },
    { store: atSeven() },
  )
  await gateway.greeted()
  gateway.welcome([[A, 8, 7]])
  gateway.thing(A, 8, { id: 'x', rev: 6, attrs: { b: 2 } })
  gateway.say({ kind: 'caught-up', channelId: A, seq: 8 })
  await replica.caughtUp(A)
  t.deepEqual([...replica.things(A).keys()], ['x', 'y'])
  t.deepEqual(plain(replica.thing(A, 'x')?.attrs), { a: 1, b: 2 })
  t.like(replica.thing(A, 'y'), { state: 'active', rev: 5, seq: 2 })
  t.deepEqual(plain(replica.thing(A, 'y')?.fields), { observed_at: 1, title: 'y' })

  gateway.lose()
  await turn()
  replica.watch.wake()
  await gateway.greeted(2)
  gateway.welcome([[A, 8, 8]])
  await turn()
  t.deepEqual(asked, ['/thing/list', '/thing/list'], 'once, not after a lost connection')
  await replica.close()
})

test('a replica reads by the key of the channel where it has one, else by the device', async (t) => {
  for (const secret of ['a key', undefined]) {
    const readers: object[] = []
    const answers = {
      '/thing/list': ({ password, device_key }: Readonly<Record<string, unknown>>) => {
        readers.push({ password, device_key })
        return { items: [] }
      },
    }
    const { gateway, replica } = rig(answers, { store: atSeven(), secretOf: () => secret })
    await gateway.greeted()
    gateway.welcome([[A, 7, 7]])
    gateway.say({ kind: 'caught-up', channelId: A, seq: 7 })
    await replica.caughtUp(A)
    const device_key = secret === undefined ? KEY : undefined
    t.deepEqual(readers, [{ password: secret, device_key }])
    await replica.close()
  }
})

test('view/4: an older delivery does not change a newer Thing from a read', async (t) => {
  const answers = { '/thing/list': () => ({ items: [record('x', 9, { a: 9 })] }) }
  const { gateway, replica, changes } = rig(answers, { store: atSeven() })
  await gateway.greeted()
  gateway.welcome([[A, 9, 7]])
  gateway.thing(A, 8, { id: 'x', rev: 4, attrs: { a: 8 } })
  gateway.thing(A, 9, { id: 'x', rev: 5, attrs: { a: 9 } })
  gateway.say({ kind: 'caught-up', channelId: A, seq: 9 })
  await replica.caughtUp(A)
  t.deepEqual(plain(replica.thing(A, 'x')?.attrs), { a: 9 })
  t.deepEqual(changes, ['x - to 9'])
  await replica.close()
})

test('replica/3: the replica reads a Thing whole that its list missed, unless it is deleted', async (t) => {
  const { gateway, replica, asked } = rig(
    {
      '/thing/list': () => ({ items: [] }),
      '/thing/get': ({ thing_id }) =>
        thing_id === 'x' ? record('x', 9, { a: 1, b: 2 }) : undefined,
    },
    { store: atSeven() },
  )
  await gateway.greeted()
  gateway.welcome([[A, 10, 7]])
  gateway.thing(A, 8, { id: 'x', rev: 4, attrs: { b: 2 } })
  gateway.thing(A, 9, { id: 'x', rev: 5, attrs: {} })
  gateway.thing(A, 10, { id: 'gone', rev: 3 })
  gateway.thing(A, 11, { id: 'new', attrs: { n: 1 } })
  gateway.say({ kind: 'caught-up', channelId: A, seq: 11 })
  await replica.caughtUp(A)
  t.deepEqual(plain(replica.thing(A, 'x')?.attrs), { a: 1, b: 2 })
  t.deepEqual([...replica.things(A).keys()], ['x', 'new'])
  t.deepEqual(asked, ['/thing/list', '/thing/get', '/thing/get'])
  await replica.close()
})

test('view/3: a restart drops the Things, and the live ones come again', async (t) => {
  const { gateway, replica, changes } = rig()
  await gateway.greeted()
  gateway.welcome([[A, 2, 0]])
  gateway.thing(A, 1, { id: 'x' })
  gateway.thing(A, 2, { id: 'gone' })
  const gap = { kind: 'gap', channelId: A, from: 3, to: 9, reason: 'retention' } as const
  gateway.say({ ...gap, restart: true })
  gateway.thing(A, 1, { id: 'x', action: 'sync' })
  gateway.say({ kind: 'caught-up', channelId: A, seq: 9 })
  await until('it is caught up', () => replica.watch.cursors.get(A) === 9)
  t.deepEqual([...replica.things(A).keys()], ['x'])
  t.deepEqual(changes.slice(2), ['x 1 to -', 'gone 2 to -', 'x - to 1'])
  await replica.close()
})

test('the end of a subscription removes the Things of its channel', async (t) => {
  const { gateway, replica, changes } = rig()
  await gateway.greeted()
  gateway.welcome([[A, 1, 0]])
  gateway.thing(A, 1, { id: 'x' })
  gateway.say({ kind: 'unsubscribed', channelId: A, reason: 'unsubscribed' })
  await until('it is told', () => changes.length === 2)
  t.is(replica.things(A).size, 0)
  await replica.close()
})

test('the handler of an entry sees the Thing after the change, also the second time', async (t) => {
  const seen: unknown[] = []
  let failures = 1
  const { gateway, time, replica } = rig(
    {},
    {
      onEntry: () => {
        seen.push(replica.thing(A, 'x')?.rev)
        if (failures-- > 0) throw new Error('not now')
      },
    },
  )
  await gateway.greeted()
  gateway.welcome([[A, 1, 0]])
  gateway.thing(A, 1, { id: 'x' })
  await until('it fails', () => seen.length === 1)
  await turn()
  time.advance(30_000)
  await gateway.greeted(2)
  gateway.welcome([[A, 1, 0]])
  gateway.thing(A, 1, { id: 'x' })
  await until('it comes again', () => seen.length === 2)
  t.deepEqual(seen, [1, 1])
  await replica.close()
})

test('the replica reports the error of a listener and still calls the others', async (t) => {
  const { gateway, replica, changes, reported } = rig()
  const stop = replica.onChange(() => {
    throw new Error('of the listener')
  })
  await gateway.greeted()
  gateway.welcome([[A, 1, 0]])
  gateway.thing(A, 1, { id: 'x' })
  await until('it is told', () => changes.length === 1)
  stop()
  gateway.thing(A, 2, { id: 'x', rev: 2 })
  await until('it is told', () => changes.length === 2)
  t.is(reported.length, 1)
  await replica.close()
})

test('waiting for a channel ends with the session', async (t) => {
  const { gateway, replica } = rig()
  await gateway.greeted()
  const waiting = replica.caughtUp(A)
  gateway.say({ kind: 'goaway', reason: 'replaced', retryAfterMs: undefined })
  await t.throwsAsync(waiting, { message: 'the session is over: replaced' })
})

test('close ends a replica that reads at once', async (t) => {
  const { gateway, replica, asked } = rig({}, { store: atSeven(), fetchNever: true })
  await gateway.greeted()
  gateway.welcome([[A, 8, 7]])
  await until('it reads', () => asked.length === 1)
  await replica.close()
  t.deepEqual(await replica.watch.ended, { kind: 'closed' })
})
