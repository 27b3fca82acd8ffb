// Goal: what devices say of later publishes takes a bounded memory, costs what it says, and is taken
// back with a refusal.
// Method: connections of one budget; sizes and calls are counted.

import test from 'ava'

import { FamilyState, StateBudget } from '#src/mqtt/devices/family-state'
import type { HomieDevice } from '#src/mqtt/devices/family-state'
import { isFault } from '#domain/fault'
import { translate } from '#src/mqtt/devices/translate'
import { connectionOf, outcomeOf, publishOf } from '#test/support/device-publish'
import type { Payload } from '#test/support/device-publish'
import { sparkplugBytes } from '#test/support/sparkplug'

const ENTRY_BYTES = 10_000
const device = (name: string, under: readonly string[] = []): HomieDevice => ({
  kind: 'homie',
  device: name,
  datatypes: new Map(),
  under,
  bytes: ENTRY_BYTES,
})

function states(perState: number, total = perState) {
  const forgotten: string[] = []
  const budget = new StateBudget({ perState, total }, () => void forgotten.push('one'))
  return { budget, forgotten, open: () => new FamilyState(budget) }
}
const has = (state: FamilyState, ...keys: readonly string[]): readonly boolean[] =>
  keys.map((key) => state.get('homie', key) !== undefined)

test('family-state/1: at its bound a state keeps all, one entry beyond forgets what was used longest ago', (t) => {
  const probe = states(Infinity).open()
  for (const key of ['a', 'b']) probe.keep(key, device(key))
  const { open, budget, forgotten } = states(probe.bytes, Infinity)
  const state = open()
  for (const key of ['a', 'b']) state.keep(key, device(key))
  t.deepEqual(has(state, 'b', 'a'), [true, true])
  t.is(forgotten.length, 0)
  state.keep('c', device('c'))
  t.deepEqual(has(state, 'a', 'b', 'c'), [true, false, true])
  t.is(forgotten.length, 1)
  t.is(budget.bytes, state.bytes)
  t.true(state.bytes <= probe.bytes)
})

test('family-state/1: beyond the bound of all, the state that grows forgets its own', (t) => {
  const { open, budget } = states(5 * ENTRY_BYTES, 3 * ENTRY_BYTES)
  const [one, other] = [open(), open()]
  one.keep('a', device('a'))
  other.keep('b', device('b'))
  other.keep('c', device('c'))
  t.deepEqual([...has(one, 'a'), ...has(other, 'b', 'c')], [true, false, true])
  other.keep('huge', { ...device('huge'), bytes: 4 * ENTRY_BYTES })
  t.deepEqual([...has(one, 'a'), ...has(other, 'c', 'huge')], [true, false, false])
  other.clear()
  one.forget('homie', 'a')
  t.is(budget.bytes, 0)
})

test('family-state/2: an entry is found under its keys until it is forgotten or replaced', (t) => {
  const state = states(Infinity).open()
  const under = (): readonly string[] => [...state.under('homie', 'r')].map((one) => one.device)
  state.keep('a', device('a', ['r', 's']))
  state.keep('b', device('b', ['r']))
  t.deepEqual(under(), ['a', 'b'])
  state.keep('a', device('a', ['s']))
  t.deepEqual(under(), ['b'])
  state.forget('homie', 'b')
  t.deepEqual(under(), [])
  const before = state.bytes
  state.keep('a', device('a', ['s']))
  t.is(state.bytes, before)
})

const configOf = (count: number, name: string): Payload => ({
  cmps: Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`k${index}`, { stat_t: `q/${name}-${index}` }]),
  ),
})
const metricsOf = (count: number, name: string): Payload =>
  sparkplugBytes({
    seq: 0n,
    metrics: Array.from({ length: count }, (_, index) => ({
      name: `${name}${index}`,
      alias: BigInt(index),
      datatype: 3,
      value: { case: 'intValue' as const, value: 1 },
    })),
  })

/** The entries that maps and sets are given meanwhile, copies included. */
function entriesDuring(run: () => void): number {
  let entries = 0
  const takeBack = (
    [
      [Map.prototype, 'set'],
      [Set.prototype, 'add'],
    ] as const
  ).map(([prototype, name]) => {
    const native = Reflect.get(prototype, name) as (...given: readonly unknown[]) => unknown
    Reflect.set(prototype, name, function counted(this: unknown, ...given: readonly unknown[]) {
      entries += 1
      return Reflect.apply(native, this, given)
    })
    return () => Reflect.set(prototype, name, native)
  })
  try {
    run()
  } finally {
    for (const back of takeBack) back()
  }
  return entries
}

const FAMILIES: readonly (readonly [
  what: string,
  learn: (index: number) => readonly [topic: string, payload: Payload],
])[] = [
  [
    'configurations of Home Assistant',
    (n) => [`homeassistant/device/d${n}/config`, configOf(200, `${n}`)],
  ],
  ['births of edge nodes', (n) => [`spBv1.0/g/NBIRTH/e${n}`, metricsOf(200, 'm')]],
  ['births of devices', (n) => [`spBv1.0/g/DBIRTH/e/d${n}`, metricsOf(200, `m${n}-`)]],
  [
    'descriptions of Homie',
    (n) => [
      `homie/5/d${n}/$description`,
      { root: 'r', nodes: { n: { properties: { p: { datatype: 'json' } } } } },
    ],
  ],
]
for (const [what, learn] of FAMILIES) {
  test(`family-state/2: the hundredth of ${what} costs what the second did`, (t) => {
    const connection = connectionOf()
    const costs = Array.from({ length: 100 }, (_, index) =>
      entriesDuring(() => void outcomeOf([learn(index)], connection)),
    )
    t.true((costs[99] ?? Infinity) <= 1.1 * (costs[1] ?? 0), costs.join())
    t.true(connection.state.bytes > 0)
  })
}

test('translate/3: what is refused teaches nothing', (t) => {
  const connection = connectionOf()
  // Its metrics are more than one submission holds; more components than a device has.
  const birth = metricsOf(5_000, 'a metric')
  const rows: readonly (readonly [string, Payload])[] = [
    ['spBv1.0/g/NBIRTH/e', birth],
    ['spBv1.0/g/DBIRTH/e/d', birth],
    ['homeassistant/device/a/config', configOf(201, 'x')],
  ]
  for (const [topic, payload] of rows) {
    t.is(typeof outcomeOf([[topic, payload]], connection), 'string', topic)
    t.is(connection.state.bytes, 0, topic)
  }
})

test('translate/3: what a publish has taught is forgotten with its refusal by acceptance', (t) => {
  const connection = connectionOf()
  const rows: readonly (readonly [string, Payload])[] = [
    ['spBv1.0/g/NBIRTH/e', metricsOf(3, 'm')],
    ['spBv1.0/g/DBIRTH/e/d', metricsOf(3, 'm')],
    ['spBv1.0/g/NDATA/e', metricsOf(3, 'm')],
    ['homie/5/a/$description', { name: 'a' }],
    ['homeassistant/device/a/config', configOf(3, 'x')],
  ]
  for (const [topic, payload] of rows) {
    const outcome = translate(publishOf(topic, payload), connection)
    if (outcome === undefined || isFault(outcome)) return t.fail(topic)
    t.true(connection.state.bytes > 0, topic)
    outcome.forget?.()
    t.is(connection.state.bytes, 0, topic)
  }
  // Data that is refused leaves the births in place, which its node would have to send again.
  outcomeOf([['spBv1.0/g/NBIRTH/e', metricsOf(3, 'm')]], connection)
  const outcome = translate(publishOf('spBv1.0/g/NDATA/e', metricsOf(1, 'm')), connection)
  t.false(outcome === undefined || isFault(outcome) || outcome.forget !== undefined)
  return undefined
})

test('a node that grows birth by birth has a bound, and the death of its devices is told once', (t) => {
  const connection = connectionOf()
  const death = (): number => {
    const outcome = translate(publishOf('spBv1.0/g/NDEATH/e', new Uint8Array()), connection)
    return outcome === undefined || isFault(outcome) ? 0 : outcome.wishes.length
  }
  for (let index = 0; index < 1_500; index += 1) {
    outcomeOf([[`spBv1.0/g/DBIRTH/e/d${index}`, metricsOf(20, `m${index}-`)]], connection)
  }
  t.true(connection.state.bytes < 2.1 * 2 ** 20, `${connection.state.bytes}`)
  t.deepEqual([death(), death()], [1_000, 1])
})
