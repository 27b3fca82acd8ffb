// Goal: whatever the order in which readings arrive, the gateway and every device hold the same.
// Method: random histories of one Thing against a model that keeps everything and looks the answer
// up: of a key, the value with the greatest time counts, and of equal times the one that arrived
// later. Each attr has the time that set it, and a device that of the last delivery which did.

import test from 'ava'
import * as fc from 'fast-check'

import type { Thing, Times } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import { valuesOf } from '#domain/patch'
import type { Fields, Json, ThingAction, ThingSubmission } from '#domain/submission'
import { attrTime, foldThing } from '#src/client/view'
import type { ThingView } from '#src/client/view'
import { thingToWire } from '#src/schemas/answers'
import { decideThing } from '#test/support/single-decision'
import type { Decision } from '#test/support/single-decision'
import { record, thing } from '#test/support/submissions'

const KEYS = ['a', 'b', '__proto__', 'constructor', 'toString']
const NAMES = ['title', 'description']
const HISTORIES = 10_000

const keyed = (keys: readonly string[], values: readonly Json[]) =>
  fc.array(fc.tuple(fc.constantFrom(...keys), fc.constantFrom(...values)), { maxLength: 3 })

const histories = fc.array(
  fc.record({
    action: fc.constantFrom<ThingAction>('update', 'update', 'update', 'archive'),
    at: fc.integer({ min: 1, max: 6 }),
    attrs: keyed(KEYS, [null, 0, 1, 'x', ['y']]),
    fields: keyed(NAMES, ['one', 'two', '']),
    externalIds: keyed(KEYS, [null, 'id', { deep: [1] }]),
  }),
  { minLength: 1, maxLength: 8 },
)
type Step = typeof histories extends fc.Arbitrary<readonly (infer One)[]> ? One : never

function submissionOf(step: Step, index: number): ThingSubmission {
  const bare = thing(step.action, 't', { opId: `op-${index}`, acceptedAt: 1000 + index })
  const { at, attrs, fields, externalIds } = step
  const patch = { at, fields: record(fields), attrs: record(attrs) }
  return { ...bare, patch: { ...patch, externalIds: record(externalIds) } }
}

// ---- the model ----------------------------------------------------------------------------------

interface View {
  readonly state: string
  readonly at: number
  readonly values: string
}

/** The value of every key that has one, with its time: the greatest, of equal ones the last. */
function newestIn(steps: readonly Step[], part: 'attrs' | 'fields' | 'externalIds') {
  const best = new Map<string, readonly [value: Json, at: number]>()
  for (const step of steps) {
    for (const [key, value] of new Map<string, Json>(step[part])) {
      if (step.at >= (best.get(key)?.[1] ?? 0)) best.set(key, [value, step.at])
    }
  }
  return [...best].flatMap(([key, [value, at]]) =>
    value === null ? [] : [{ key, value, at } as const],
  )
}

function modelOf(steps: readonly Step[]): View {
  let state = 'absent'
  let archivedAt = 0
  for (const { action, at } of steps) {
    if (action === 'archive') {
      archivedAt = state === 'archived' ? Math.max(archivedAt, at) : at
      state = 'archived'
    } else if (state !== 'archived' || at >= archivedAt) state = 'active'
  }
  const parts = (['attrs', 'fields', 'externalIds'] as const).map((part) =>
    newestIn(steps, part)
      .map(({ key, value }) => [key, value] as const)
      .toSorted(byKey),
  )
  const at = Math.max(...steps.map((step) => step.at))
  return { state, at, values: JSON.stringify(parts) }
}

const byKey = (a: readonly [string, Json], b: readonly [string, Json]): number =>
  a[0] < b[0] ? -1 : 1

/** A payload of the feed, or of a late reading. */
interface Reported {
  readonly observed_at: number
  readonly set_at?: number
  readonly attrs?: object
  readonly external_ids?: object
}

// ---- the gateway and a device -------------------------------------------------------------------

function viewOf(kept: Thing): View {
  const parts = [kept.attrs, kept.fields, kept.externalIds].map((part) =>
    Object.entries(valuesOf(part)).toSorted(byKey),
  )
  return { state: kept.state, at: kept.at, values: JSON.stringify(parts) }
}

/** A device: applies what is delivered, in seq order. */
class FoldingDevice {
  readonly #parts = {
    attrs: new Map<string, Json>(),
    fields: new Map<string, Json>(),
    external_ids: new Map<string, Json>(),
  }
  #state = ''
  #at = 0
  rev = 0
  #view: ThingView | undefined

  apply(entry: FeedEntry): void {
    const { state = '', rev = 0 } = entry
    const payload = JSON.parse(entry.payload) as Fields
    this.#view = foldThing(this.#view, { ...entry, state, rev, payload })
    const {
      observed_at,
      set_at: _,
      attrs,
      external_ids,
      ...fields
    } = payload as unknown as Reported
    this.#state = state
    this.#at = observed_at
    this.rev = rev
    const parts = [
      [this.#parts.attrs, attrs],
      [this.#parts.fields, fields],
      [this.#parts.external_ids, external_ids],
    ] as const
    for (const [values, patch] of parts) {
      for (const [key, value] of Object.entries<Json>({ ...patch })) {
        if (value === null) values.delete(key)
        else values.set(key, value)
      }
    }
  }

  /** The time of each attr by the SDK. */
  times(): ReadonlyMap<string, number | undefined> {
    const view = this.#view
    const names = Object.keys(view?.attrs ?? {})
    return new Map(names.map((name) => [name, view && attrTime(view, name)]))
  }

  view(): View {
    const { attrs, fields, external_ids } = this.#parts
    const parts = [attrs, fields, external_ids].map((part) => [...part].toSorted(byKey))
    return { state: this.#state, at: this.#at, values: JSON.stringify(parts) }
  }
}

const equal = (a: View, b: View): boolean =>
  a.state === b.state && a.at === b.at && a.values === b.values

/** The values of attrs that a decision keeps, each with its time. */
function keptBy({ entry, late }: Decision): readonly string[] {
  return [entry, late].flatMap((item) => {
    const { set_at, observed_at, attrs } = JSON.parse(item?.payload ?? '{}') as Reported
    return Object.entries<Json>({ ...attrs })
      .filter(([, value]) => value !== null)
      .map(([key, value]) => line(set_at ?? observed_at, key, value))
  })
}

/** late/1: each value of a step is kept once, but for those that the Thing has already. */
function isKeptOnce(decision: Decision, step: Step, before: readonly Step[]): boolean {
  const has = new Set(newestIn(before, 'attrs').map(({ key, value, at }) => line(at, key, value)))
  const said = [...new Map<string, Json>(step.attrs)]
    .filter(([, value]) => value !== null)
    .map(([key, value]) => line(step.at, key, value))
  const kept = keptBy(decision)
  const isSaid = kept.length === new Set(kept).size && kept.every((one) => said.includes(one))
  return isSaid && said.every((one) => has.has(one) || kept.includes(one))
}

const line = (at: number, key: string, value: Json): string =>
  `${at} ${key} ${JSON.stringify(value)}`

/** Goes through one history; a text when gateway, model and device do not agree. */
function disagreement(history: readonly Step[]): string | undefined {
  const device = new FoldingDevice()
  let kept: Thing | undefined
  let headSeq = 0
  const delivered = new Map<string, number>()
  for (const [index, step] of history.entries()) {
    const decision = decideThing(submissionOf(step, index), kept, { headSeq, endedLifeMs: 1 })
    if (!isKeptOnce(decision, step, history.slice(0, index))) return `late/1: step ${index}`
    const before = kept
    kept = decision.thing ?? kept
    if (kept === undefined) return 'nothing was kept'
    const model = modelOf(history.slice(0, index + 1))
    if (!equal(viewOf(kept), model)) {
      return `entity/1: ${JSON.stringify(viewOf(kept))} but the model has ${JSON.stringify(model)}`
    }
    const told = thingToWire(kept)['attr_times'] as Times | undefined
    const attrs = newestIn(history.slice(0, index + 1), 'attrs')
    for (const { key, at } of attrs) {
      if ((told?.[key] ?? kept.at) !== at) return `attr_times: ${key} is not of ${at}`
    }
    const isEffective = before === undefined || !equal(viewOf(before), model)
    if (isEffective !== (decision.entry !== undefined))
      return `entity/3: step ${index} is delivered`
    if (kept.rev !== (before?.rev ?? 0) + (isEffective ? 1 : 0))
      return `entity/3: rev is ${kept.rev}`
    if (decision.entry === undefined) continue
    if (decision.entry.seq !== headSeq + 1) return `W9: seq is ${decision.entry.seq}`
    headSeq = decision.entry.seq
    device.apply(decision.entry)
    const named = new Set(step.attrs.map(([key]) => key))
    for (const { key, at } of attrs) {
      if (named.has(key) && at === step.at) delivered.set(key, at)
      if (device.times().get(key) !== delivered.get(key)) return `view/5: the time of ${key}`
    }
    if (!equal(device.view(), model) || device.rev !== kept.rev) {
      return `entity/4: a device has ${JSON.stringify(device.view())}`
    }
  }
  return undefined
}

test('entity/1, entity/2, entity/3, entity/4, late/1, W9: out of order, gateway, model and device hold the same', (t) => {
  fc.assert(
    fc.property(histories, (history) => {
      const found = disagreement(history)
      if (found !== undefined) throw new Error(found)
    }),
    { numRuns: HISTORIES },
  )
  t.pass()
})
