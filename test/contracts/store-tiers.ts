// Tiers of numbers: whatever is joined, merged, repeated and removed, a bucket has what a model has
// that saw each update once.

import test from 'ava'
import * as fc from 'fast-check'

import { PERIOD_MS, TIERS } from '#domain/history/series'
import type { ThingSeries } from '#domain/history/series'
import type { Store } from '#src/store/store'
import { NEVER } from '#test/support/retention-limits'
import { stepsOf } from '#test/support/retired'
import { ChannelWriter } from '#test/support/store-writer'
import { thing } from '#test/support/submissions'
import { TierModel } from '#test/support/tier-model'
import {
  DAY,
  DUE_MS,
  EVER,
  HOUR,
  LATE_MS,
  START,
  joinOld,
  mergeAll,
  seriesOf,
} from '#test/support/tiers'
import type { OpenStore } from './store-contract.ts'

type Step =
  | {
      readonly does: 'update'
      readonly things: readonly number[]
      readonly attr: number
      readonly value: number
      readonly later: number
    }
  | { readonly does: 'delete'; readonly thing: number; readonly late: readonly number[] }
  | { readonly does: 'join' | 'joins at once' | 'merge' | 'merges at once' | 'due' | 'remove' }
  | { readonly does: 'retire'; readonly days: number }

// Whole halves: their sums are exact in every order.
const STEP = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      does: fc.constant('update' as const),
      things: fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }),
      attr: fc.nat(2),
      value: fc.integer({ min: -1_000, max: 1_000 }).map((half) => half / 2),
      later: fc.oneof(fc.nat(400_000), fc.constant(0), fc.integer({ min: -DAY, max: 9 * DAY })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('delete' as const),
      thing: fc.nat(5),
      late: fc.array(fc.integer({ min: 1, max: 9 * DAY }), { maxLength: 2 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constantFrom(
        ...(['join', 'joins at once', 'merge', 'merges at once', 'due', 'remove'] as const),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('retire' as const), days: fc.nat(20) }),
  },
)

interface World {
  readonly store: Store
  readonly writer: ChannelWriter
  readonly times: number[]
  floor: number
}

const idOf = (number: number): string => `thing-${number}`

async function take({ store, writer, times, ...world }: World, step: Step): Promise<number> {
  const { channelId } = writer
  const acceptedAt = 1_000 + writer.committed.length
  switch (step.does) {
    case 'update':
      for (const [index, number] of step.things.entries()) {
        times[number] = (times[number] ?? START) + Math.round(step.later / (index + 1))
        const attrs = { [`a${step.attr}`]: step.value + index, text: 'no number' }
        const at = times[number]
        writer.take(thing('update', idOf(number), { channelId, at, attrs, acceptedAt }))
      }
      await writer.commit()
      break
    case 'delete':
      for (const before of step.late) {
        const at = (times[step.thing] ?? START) - before
        const attrs = { a0: before }
        writer.take(thing('update', idOf(step.thing), { channelId, at, attrs, acceptedAt }))
      }
      times[step.thing] = (times[step.thing] ?? START) + 1
      writer.take(
        thing('delete', idOf(step.thing), { channelId, at: times[step.thing] ?? 0, acceptedAt }),
      )
      await writer.commit()
      break
    case 'join':
      await store.joining.join(LATE_MS)
      break
    case 'joins at once':
      await Promise.all([store.joining.join(LATE_MS), store.joining.join(LATE_MS)])
      break
    case 'merge':
      await mergeAll(store, [0])
      break
    case 'merges at once':
      await Promise.all([
        store.merging.merge(DUE_MS[0] ?? 0, EVER),
        store.joining.join(LATE_MS),
        store.merging.merge(DUE_MS[0] ?? 0, EVER),
        store.retention.step(NEVER, 500),
      ])
      break
    case 'due':
      await store.merging.merge(DUE_MS[0] ?? 0, EVER)
      break
    case 'remove':
      await stepsOf(store, NEVER, 500)
      break
    case 'retire': {
      const before = START + step.days * DAY
      const tiers = { '5m': before, '1h': before, '1d': before }
      await stepsOf(store, { ...NEVER, tiers }, 500)
      return Math.max(world.floor, before)
    }
  }
  return world.floor
}

const ofNumbers = (attrs: ThingSeries): ThingSeries =>
  Object.fromEntries(Object.entries(attrs).filter(([attr]) => attr !== 'text'))

function isSame(title: string, found: object, expected: object): void {
  const sorted = (attrs: object): string =>
    JSON.stringify(Object.entries(attrs).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  if (sorted(found) !== sorted(expected)) {
    throw new Error(`${title}: ${sorted(found)} in place of ${sorted(expected)}`)
  }
}

async function check(store: Store, writer: ChannelWriter, floor: number): Promise<void> {
  const { channelId, committed } = writer
  const model = new TierModel()
  for (const one of committed) model.see(one)
  for (let number = 0; number < 6; number += 1) {
    const thingId = idOf(number)
    const raw = await seriesOf(store, { channelId, thingId, step: 'raw' })
    isSame(`${thingId} raw`, ofNumbers(raw), model.raw(thingId))
    for (const step of TIERS) {
      // A period that began before the time is gone as a whole.
      const from = Math.ceil(floor / PERIOD_MS[step]) * PERIOD_MS[step]
      const found = await seriesOf(store, { channelId, thingId, step, from })
      isSame(`${thingId} ${step}`, found, model.series(thingId, step, from))
    }
  }
}

export function tierContract(engine: string, open: OpenStore): void {
  test(`${engine}: contributions/1, merging/1, buckets/1, raw/2: every bucket has what a model has that saw each update once`, async (t) => {
    const store = await open(t)
    let channels = 0
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 30 }), async (steps) => {
        channels += 1
        const writer = await ChannelWriter.open(store, channels)
        const world: World = { store, writer, times: [], floor: 0 }
        for (const step of steps) world.floor = await take(world, step)
        await check(store, writer, world.floor)
        await joinOld(store)
        await mergeAll(store)
        await check(store, writer, world.floor)
        await stepsOf(store, NEVER, 500)
        await check(store, writer, world.floor)
      }),
      { numRuns: engine === 'sqlite' ? 60 : 15, seed: 43 },
    )
    t.pass()
  })

  test(`${engine}: tier-removal/1, contributions/2: a deleted Thing has none, also when it is created again`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    const ask = () => seriesOf(store, { channelId, thingId: 'lamp', step: '1d' })
    const say = (id: string, at: number, power: number) =>
      writer.take(thing('update', id, { at, attrs: { power } })).commit()
    await say('lamp', START, 1)
    await say('door', START, 2)
    await joinOld(store)
    await mergeAll(store)
    t.deepEqual(Object.keys(await ask()), ['power'])
    await writer.take(thing('delete', 'lamp', { at: START + 1 })).commit()
    t.deepEqual(await ask(), {})
    await joinOld(store)
    t.deepEqual(await ask(), {})
    await writer
      .take(
        thing('create', 'lamp', {
          at: START + HOUR,
          acceptedAt: 5_000_000,
          attrs: { power: 7 },
        }),
      )
      .commit()
    const again = { power: { ...(await ask())['power'], times: [START], count: [1], last: [7] } }
    t.like(await ask(), again)
    await joinOld(store)
    await mergeAll(store)
    t.like(await ask(), again)
    t.true((await stepsOf(store, NEVER, 500)).length > 0)
    t.deepEqual(await stepsOf(store, NEVER, 500), [])
    t.like(await ask(), again)
    t.like(await seriesOf(store, { channelId, thingId: 'door', step: '1d' }), {
      power: { last: [2], count: [1] },
    })
  })

  test(`${engine}: retention/5: a block that is not joined stays, however old it is`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('update', 'a', { at: START, attrs: { n: 1 } })).commit()
    t.deepEqual(await stepsOf(store, { ...NEVER, thingUpdates: Number.MAX_SAFE_INTEGER }, 99), [])
    await joinOld(store)
    t.deepEqual(await stepsOf(store, { ...NEVER, thingUpdates: Number.MAX_SAFE_INTEGER }, 99), [2])
    const found = await seriesOf(store, { channelId: writer.channelId, thingId: 'a', step: '5m' })
    t.like(found, { n: { times: [START], count: [1] } })
  })

  test(`${engine}: buckets/2: the 64 attrs of a Thing that came first have tiers, and no other`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const attrs = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`n${index}`, index]))
    await writer.take(thing('update', 'a', { at: START, attrs })).commit()
    await joinOld(store)
    await mergeAll(store)
    const found = await seriesOf(store, { channelId: writer.channelId, thingId: 'a', step: '1h' })
    t.is(Object.keys(found).length, 64)
    t.false('n64' in found)
  })

  test(`${engine}: rows of tiers go with their deleted channel`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('update', 'a', { at: START, attrs: { n: 1 } })).commit()
    await writer.take(thing('delete', 'b', { at: START })).commit()
    await joinOld(store)
    await store.channels.delete(writer.channelId, 1_000)
    // A place, two Things, a chunk, the deletion that is worked off, and two rows of the channel.
    const removed = await stepsOf(store, { ...NEVER, deletedChannels: 1_001 }, 4)
    t.is(
      removed.reduce((sum, rows) => sum + rows, 0),
      7,
    )
  })
}
