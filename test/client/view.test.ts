import test from 'ava'

import { ThingsView, attrTime, foldThing, thingFrom } from '#src/client/view'
import type { ThingChange, ThingView } from '#src/client/view'
import { parseOperationId, parseThingId } from '#domain/identity'
import type { Fields } from '#domain/submission'
import type { Delivery } from '#src/schemas/frames'
import { channel } from '#test/support/session-words'

const A = channel('A')
const entityId = parseThingId('t') ?? never()
const opId = parseOperationId('op') ?? never()

function never(): never {
  throw new Error('bad id')
}

const change = (seq: number, payload: Fields, more: Partial<ThingChange> = {}): ThingChange => ({
  seq,
  action: 'update',
  entityId,
  state: 'active',
  rev: seq,
  payload,
  ...more,
})

const delivery = (seq: number, payload: Fields, more: Partial<ThingChange> = {}): Delivery => ({
  kind: 'deliver',
  channelId: A,
  deliveryId: 'd',
  opId,
  model: 'thing',
  acceptedAt: 1,
  replay: false,
  ...change(seq, payload, more),
  entityId,
})

const parsed = (text: string): Fields => JSON.parse(text) as Fields
const plain = (fields: Fields | undefined): object => ({ ...fields })

test('view/1: a patch merges name by name and null removes', (t) => {
  const first = foldThing(
    undefined,
    change(1, { title: 'a', tags: ['x'], attrs: { a: 1, b: { c: 2 } }, external_ids: { m: '1' } }),
  )
  const second = foldThing(
    first,
    change(2, { title: null, observed_at: 7, attrs: { a: null, b: 3 }, external_ids: { m: null } }),
  )
  t.deepEqual(plain(second?.fields), { tags: ['x'], observed_at: 7 })
  t.deepEqual(plain(second?.attrs), { b: 3 })
  t.deepEqual(plain(second?.externalIds), {})
  t.deepEqual(plain(first?.attrs), { a: 1, b: { c: 2 } })
  t.is(second?.rev, 2)
})

test('view/1: an empty text clears its field, and stays its value', (t) => {
  const first = foldThing(undefined, change(1, { title: 'a', description: 'b' }))
  const second = foldThing(first, change(2, { title: '' }))
  t.deepEqual(plain(second?.fields), { title: '', description: 'b' })
})

test('view/1: sync replaces everything', (t) => {
  const before = foldThing(undefined, change(1, { title: 'a', attrs: { a: 1 } }))
  const after = foldThing(
    before,
    change(2, { attrs: { b: 2 } }, { action: 'sync', state: 'archived' }),
  )
  t.deepEqual([plain(after?.fields), plain(after?.attrs), after?.state], [{}, { b: 2 }, 'archived'])
})

test('view/1: a deleted Thing is not in the view, and a new one with its id begins from nothing', (t) => {
  const view = new ThingsView()
  view.apply(delivery(1, { attrs: { a: 1 } }))
  view.apply(delivery(2, {}, { action: 'delete', state: 'deleted' }))
  t.is(view.things(A).size, 0)
  view.apply(delivery(3, { attrs: { b: 1 } }, { action: 'create' }))
  t.deepEqual(plain(view.thing(A, 't')?.attrs), { b: 1 })
})

test('view/2: a repeated entry changes nothing', (t) => {
  const view = new ThingsView()
  t.true(view.apply(delivery(1, { attrs: { a: 1 } })))
  t.true(view.apply(delivery(2, { attrs: { a: 2 } })))
  t.false(view.apply(delivery(1, { attrs: { a: 1 } })))
  t.deepEqual(plain(view.thing(A, 't')?.attrs), { a: 2 })
  t.deepEqual([...view.cursors()], [[A, 2]])
})

test('view/3: a restart drops the Things of the channel, a plain gap does not', (t) => {
  const view = new ThingsView()
  const gap = { kind: 'gap', channelId: A, from: 10, to: 19, reason: 'retention' } as const
  view.apply(delivery(5, { attrs: { a: 1 } }))
  view.apply({ ...gap, restart: false })
  t.is(view.things(A).size, 1)
  view.apply({ ...gap, restart: true })
  t.is(view.things(A).size, 0)
  t.deepEqual([...view.cursors()], [[A, 9]])
  t.true(view.apply(delivery(2, { attrs: { a: 1 } }, { action: 'sync' })))
})

test('positions/1: after a restart Things are new once more, Messages are not', (t) => {
  const view = new ThingsView()
  const message = (seq: number): Delivery => ({
    ...delivery(seq, { title: 'a' }),
    model: 'message',
    action: 'send',
  })
  const sync = (seq: number): Delivery => delivery(seq, { attrs: { a: seq } }, { action: 'sync' })
  for (let seq = 1; seq <= 6; seq += 1) view.apply(seq % 2 === 0 ? message(seq) : delivery(seq, {}))
  const gap = { kind: 'gap', channelId: A, from: 7, to: 9, restart: true } as const
  view.apply({ ...gap, reason: 'retention' })
  t.deepEqual(
    [sync(3), message(4), sync(3), sync(5), message(6), message(7), sync(8), sync(8)].map((frame) =>
      view.apply(frame),
    ),
    [true, false, false, true, false, true, true, false],
  )
  t.deepEqual([...view.cursors()], [[A, 8]])
})

test('positions/2: after a reset every entry is new', (t) => {
  const view = new ThingsView()
  view.apply(delivery(5, {}))
  const gap = { kind: 'gap', channelId: A, from: 4, to: 5, restart: true } as const
  view.apply({ ...gap, reason: 'reset' })
  t.deepEqual([...view.cursors()], [[A, 0]])
  t.true(view.apply({ ...delivery(2, {}), model: 'message', action: 'send' }))
})

test('the cursor follows the catch-up, and the end of a subscription removes it', (t) => {
  const view = new ThingsView()
  view.apply({ kind: 'caught-up', channelId: A, seq: 7 })
  view.apply({ kind: 'caught-up', channelId: A, seq: 6 })
  t.deepEqual([...view.cursors()], [[A, 7]])
  view.apply({ kind: 'unsubscribed', channelId: A, reason: 'unsubscribed' })
  t.deepEqual([...view.cursors()], [])
})

const READ = { thing_id: 't', state: 'active', seq: 1, rev: 1, changed_at: 1 } as const

test('view/5: each attr has the time of the reading that set it', (t) => {
  const begun = thingFrom({ ...READ, observed_at: 5, attrs: { a: 1, b: 1 }, attr_times: { b: 3 } })
  const times = (thing = begun) => Object.keys(thing.attrs).map((name) => attrTime(thing, name))
  t.deepEqual(times(), [5, 3])
  const steps: readonly (readonly [Fields, readonly (number | undefined)[], more?: object])[] = [
    [{ observed_at: 6, attrs: { b: 2 } }, [5, 6]],
    [{ observed_at: 7, title: 'x' }, [5, 6]],
    [{ observed_at: 7, set_at: 4, attrs: { c: 1 } }, [5, 6, 4]],
    [{ observed_at: 8, attrs: { a: null, b: 2, c: 2 } }, [8, 8]],
    [{ observed_at: 9, attrs: { a: 1, b: 1 }, attr_times: { a: 2 } }, [2, 9], { action: 'sync' }],
    [{ observed_at: 9, attrs: { a: 1, b: 1 } }, [9, 9], { action: 'sync' }],
    [{ observed_at: 9, attrs: { a: 1 }, attr_times: null }, [undefined], { action: 'sync' }],
    [{ observed_at: 10, attrs: { a: 2, b: 1 } }, [undefined, undefined]],
    [{ observed_at: 10, attrs: { a: 2, b: 1 } }, [10, 10], { action: 'sync' }],
  ]
  let thing: ThingView | undefined = begun
  for (const [index, [payload, expected, more]] of steps.entries()) {
    thing = foldThing(thing, change(index + 2, payload, more))
    t.deepEqual(times(thing), expected, `step ${index}`)
    t.false('set_at' in (thing?.fields ?? {}) || 'attr_times' in (thing?.fields ?? {}))
  }
})

test('keys of prototypes are plain data', (t) => {
  const thing = foldThing(
    undefined,
    change(1, parsed('{"attrs":{"__proto__":{"x":1},"constructor":2}}')),
  )
  t.deepEqual(Object.keys(thing?.attrs ?? {}), ['__proto__', 'constructor'])
  t.is(Object.getPrototypeOf({}), Object.prototype)
  const removed = foldThing(thing, change(2, parsed('{"attrs":{"__proto__":null}}')))
  t.deepEqual(Object.keys(removed?.attrs ?? {}), ['constructor'])
})
