// Goal: what rules that change, Things that go, and deadlines in any number leave behind, against
// models that know no watches, no sweeps and no turns. (R5, R7)

import test from 'ava'
import * as fc from 'fast-check'

import type { Submission, Tick } from '#domain/submission'
import { ruleOf } from '#test/support/rules'
import { rule, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'

const S = 1_000

const reading = (id: string, s: number, t: number): Submission =>
  thing('update', id, { at: s * S, acceptedAt: s * S, attrs: { t } })

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '?')

const tickAt = (s: number): Tick => ({ model: 'tick', acceptedAt: s * S })

// ---- R5: rules that change, Things that go --------------------------------------------------------

const ATTR = { attr: 't' }
const BASE = { when: { ...ATTR, above: 30 } }
/** Rules in the place of one another; those with the same `of` go on where the last one was. */
const VARIANTS = [
  { of: 'base', limit: 30, members: BASE },
  { of: 'base', limit: 30, members: { ...BASE, title: 'x', clear: { not: BASE.when } } },
  { of: 'above', limit: 40, members: { when: { ...ATTR, above: 40 } } },
  { of: 'things', limit: 30, members: { ...BASE, things: { ids: ['a'] } } },
  { of: undefined, limit: Infinity, members: { ...BASE, enabled: false } },
]
type Variant = (typeof VARIANTS)[number]

const changes = fc.array(
  fc.record({
    kind: fc.constantFrom('read', 'read', 'read', 'put', 'put', 'delete', 'archive', 'remove'),
    variant: fc.constantFrom(...VARIANTS),
    thingId: fc.constantFrom('a', 'b'),
    t: fc.constantFrom(1, 35, 50),
    restarts: fc.boolean(),
  }),
  { maxLength: 20 },
)
type Change = typeof changes extends fc.Arbitrary<readonly (infer One)[]> ? One : never

/** The Events of one rule: what opens one, and the reason with which it is closed. */
function eventsOf(list: readonly Change[]): readonly string[] {
  const said: string[] = []
  const open = new Set<string>()
  let rules: Variant | undefined
  const close = (id: string, why: string): void => {
    if (open.delete(id)) said.push(`close ${id} ${why}`)
  }
  const closeAll = (why: string): void => ['a', 'b'].forEach((id) => close(id, why))
  for (const { kind, variant, thingId, t } of list) {
    const isIn = rules?.of !== 'things' || thingId === 'a'
    if (kind === 'read' && rules !== undefined && isIn) {
      if (t <= rules.limit) close(thingId, 'cleared')
      else if (!open.has(thingId)) said.push(`create ${thingId}`)
      if (t > rules.limit) open.add(thingId)
    } else if (kind === 'put') {
      if (variant.of === undefined) closeAll('rule disabled')
      else if (variant.of !== rules?.of) closeAll('rule changed')
      rules = variant
    } else if (kind === 'delete') {
      closeAll('rule deleted')
      rules = undefined
    } else if (kind === 'archive') close(thingId, 'thing archived')
    else if (kind === 'remove') close(thingId, 'thing deleted')
  }
  return said
}

function changeOf({ kind, variant, thingId, t }: Change, s: number): Submission {
  const times = { at: s * S, acceptedAt: s * S }
  switch (kind) {
    case 'put':
      return rule('put', 'r', JSON.stringify(ruleOf(variant.members)), times)
    case 'delete':
      return rule('delete', 'r', '', times)
    case 'archive':
      return thing('archive', thingId, times)
    case 'remove':
      return thing('delete', thingId, times)
    case 'read':
      return reading(thingId, s, t)
  }
}

test('R5: Events stay open while rule and Thing are the same, and say why they are closed', async (t) => {
  const holds = async (list: readonly Change[]): Promise<void> => {
    const bench = await newBench()
    for (const [index, change] of list.entries()) {
      const s = 20 + 2 * index // A deleted Thing comes back after a second.
      await bench.apply(changeOf(change, s))
      if (change.restarts) bench.directory.sleepAll()
      await bench.take(bench.turnOf([tickAt(s)]))
    }
    const said = bench.store.feed.flatMap(({ model, action, entityId, channelId, payload }) => {
      if (model !== 'event') return []
      const { status = 'cleared' } = JSON.parse(payload) as { status?: string }
      const id = bench.store.event(channelId, entityId)?.fields.values['thing_id']
      return `${action} ${textOf(id)}${action === 'close' ? ` ${status}` : ''}`
    })
    t.deepEqual(said, eventsOf(list))
  }
  await fc.assert(fc.asyncProperty(changes, holds), { numRuns: 200 })
})

// ---- R7 -------------------------------------------------------------------------------------------

/** By the parts of one, the first part first. */
const inOrder = (one: readonly Part[], other: readonly Part[]): number =>
  one.map((part, index) => compared(part, other[index] ?? '')).find((sign) => sign !== 0) ?? 0
const compared = (one: Part, other: Part): number => (one < other ? -1 : one > other ? 1 : 0)
type Part = string | number

test('R7: deadlines fire in the order of time, rule and Thing, whenever the ticks come', async (t) => {
  // A second reading behind the end of `for` would itself fire, before the tick. (R3)
  const readings = fc.uniqueArray(
    fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), s: fc.integer({ min: 1, max: 6 }) }),
    { selector: ({ id }) => id },
  )
  const ticks = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 })
  const rules = Object.entries({ q: 3, r: 5, p: 4, s: 3 })
  const holds = async (list: readonly { id: string; s: number }[], at: readonly number[]) => {
    const bench = await newBench()
    const bodyOf = (forS: number) => JSON.stringify(ruleOf({ for: `${forS}s` }))
    await bench.apply(...rules.map(([id, forS]) => rule('put', id, bodyOf(forS))))
    const log = [...list.map(({ id, s }) => reading(id, s, 31)), ...[...at, 90].map(tickAt)]
    const sorted = log.toSorted((one, other) => one.acceptedAt - other.acceptedAt)
    for (const item of sorted) await bench.take(bench.turnOf([item]))
    const due = rules.flatMap(([ruleId, forS]) => list.map(({ id, s }) => [forS + s, ruleId, id]))
    const opened = bench.store.feed.flatMap(({ model, channelId, entityId }) => {
      const { at: ms = 0, attrs, fields } = bench.store.event(channelId, entityId) ?? {}
      const id = fields?.values['thing_id']
      const ruleId = attrs?.values['rule_id']
      return model === 'event' ? `${ms / S} ${textOf(ruleId)} ${textOf(id)}` : []
    })
    t.deepEqual(
      opened,
      due.toSorted(inOrder).map((one) => one.join(' ')),
    )
  }
  await fc.assert(fc.asyncProperty(readings, ticks, holds), { numRuns: 100 })
})
