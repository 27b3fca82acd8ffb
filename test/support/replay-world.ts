// Random worlds: logs, owners that take lanes from each other, and stores whose calls fail.

import * as fc from 'fast-check'

import type { FeedEntry } from '#domain/feed'
import { placeOf } from '#domain/lane'
import type { Lease } from '#domain/lane'
import type { TurnStore } from '#domain/store-ports'
import { systemOver } from '#test/support/actor-system'
import { MemoryLog } from '#test/support/memory-log'
import { outage } from '#test/support/memory-turn-store'
import type { MemoryTurnStore } from '#test/support/memory-turn-store'
import { turn } from '#test/support/until'
import {
  ENDED_LIFE_MS,
  laneOfChannel,
  batches,
  itemOf,
  isOfEntity,
  newStore,
  fold,
} from '#test/support/plain-fold'
import type { Item } from '#test/support/plain-fold'

// ---- what goes wrong ----------------------------------------------------------------------------

const ways = ['refuse', 'lose', 'lose', 'lose', 'lose-down', 'fence', 'unwilling'] as const
/** More attempts than a submission that breaks its turn gets. */
const UNWILLING_ATTEMPTS = 12
/** Turns of the event loop after which a world that has not ended is wrong. */
const ROUNDS_MAX = 3_000

const faults = fc.record({
  loads: fc.array(fc.constantFrom(undefined, undefined, undefined, 'refuse' as const)),
  commits: fc.array(fc.constantFrom(undefined, undefined, undefined, ...ways), { maxLength: 30 }),
})
type Faults = typeof faults extends fc.Arbitrary<infer One> ? One : never

/**
 * One process's connection to the store, on which calls fail. After `refuse` and `lose-down` the
 * store stays away until a takeLane was refused too. While it is `unwilling` it refuses turns
 * alone, as with a full disk.
 */
function unreliable(store: TurnStore, { loads, commits }: Faults) {
  const left = {
    loads: [...loads],
    commits: commits.flatMap((way) =>
      way === 'unwilling' ? Array<typeof way>(UNWILLING_ATTEMPTS).fill(way) : [way],
    ),
  }
  let isDown = false
  const port: TurnStore = {
    due: (lane, upTo, limits) => store.due(lane, upTo, limits),
    nextDue: (lane) => store.nextDue(lane),
    deadlines: (lane) => store.deadlines(lane),
    lastEpoch: () => store.lastEpoch(),
    untilDurable: () => store.untilDurable(),
    bindLog: (log) => store.bindLog(log),
    load: async (needs) => {
      isDown = left.loads.shift() !== undefined
      if (isDown) throw outage('the store is down')
      return store.load(needs)
    },
    commit: async (writes) => {
      const fault = left.commits.shift()
      isDown = fault === 'refuse' || fault === 'lose-down'
      if (fault === 'fence') return { kind: 'fenced', lanes: writes.lanes.map(({ lane }) => lane) }
      if (fault === 'refuse') throw outage('the store is down')
      if (fault === 'unwilling') throw outage('the store takes no turn')
      const committed = await store.commit(writes)
      if (fault === undefined) return committed
      throw outage('the answer got lost')
    },
    takeLane: async (lease) => {
      if (!isDown) return store.takeLane(lease)
      isDown = false
      throw outage('the store is still down')
    },
  }
  const recover = (): void => {
    left.loads = []
    left.commits = []
  }
  return { port, recover }
}

const handovers = fc.array(
  fc.record({
    /** The one of two processes that takes a lane, and whether the other one learns of it. */
    to: fc.integer({ min: 0, max: 1 }),
    lane: fc.integer({ min: 0, max: 1 }),
    isTold: fc.boolean(),
    /**
     * True when a new process takes its place; the one before goes on as if nothing had happened.
     */
    isReplaced: fc.boolean(),
  }),
  { minLength: 2, maxLength: 12 },
)

export const worlds = fc.record({
  batches,
  handovers,
  faults: fc.array(faults, { minLength: 3, maxLength: 3 }),
  turnMax: fc.constantFrom(1, 2, 5, 100),
  /** Turns of the event loop between two batches. */
  pause: fc.integer({ min: 0, max: 6 }),
  liveMax: fc.constantFrom(1, 100),
  rememberedBytesMax: fc.constantFrom(1, 100_000),
})
export type World = (typeof worlds extends fc.Arbitrary<infer One> ? One : never) & {
  /** Milliseconds for which an end is remembered, where the clock has another pace. */
  readonly endedLifeMs?: number
}

// ---- a cluster of two ---------------------------------------------------------------------------

class Cluster {
  readonly store = newStore()
  readonly log = new MemoryLog()
  readonly #world: World
  readonly #all: { stop: () => Promise<void>; entries: () => readonly FeedEntry[] }[] = []
  readonly #held = [new Map<number, Lease>(), new Map<number, Lease>()] as const
  #processes: readonly [Process, Process] | undefined
  #epoch = 0

  constructor(world: World) {
    this.#world = world
  }

  async start(): Promise<void> {
    this.#processes = [await this.#newProcess(), await this.#newProcess()]
    for (const lane of [0, 1]) this.#give(lane, { to: lane, isTold: true })
  }

  async handOver({ to, lane, isTold, isReplaced }: World['handovers'][number]) {
    const [first, second] = this.#processes ?? []
    if (first === undefined || second === undefined) return
    if (isReplaced) {
      const fresh = await this.#newProcess()
      this.#processes = to === 0 ? [fresh, second] : [first, fresh]
      for (const other of this.#held[to === 0 ? 0 : 1].keys()) this.#give(other, { to, isTold })
    }
    this.#give(lane, { to, isTold })
  }

  /** Repairs the store; the first process gets every lane and applies all there is. */
  async finish(): Promise<readonly (readonly FeedEntry[])[]> {
    for (const lane of [0, 1]) this.#give(lane, { to: 0, isTold: true })
    this.#processes?.[0].recover()
    await this.#applied()
    await this.#processes?.[0].system.drain()
    for (const { stop } of this.#all) await stop()
    return this.#all.map(({ entries }) => entries())
  }

  /** Resolves once all of the log is applied. */
  async #applied(): Promise<void> {
    const isApplied = async (lane: number): Promise<boolean> => {
      const { last } = await this.log.bounds(lane)
      return (this.store.lanes.get(lane)?.place ?? 0) >= placeOf(last, 0)
    }
    for (let rounds = 0; !((await isApplied(0)) && (await isApplied(1))); rounds += 1) {
      if (rounds === ROUNDS_MAX) throw new Error('the lanes wait for ever')
      await turn()
    }
  }

  async #newProcess() {
    const tape = this.#world.faults[this.#all.length] ?? { loads: [], commits: [] }
    const { port, recover } = unreliable(this.store, tape)
    const { turnMax, liveMax, rememberedBytesMax } = this.#world
    const options = {
      turnMax,
      liveMax,
      rememberedBytesMax,
      endedLifeMs: this.#world.endedLifeMs ?? ENDED_LIFE_MS,
    }
    const over = systemOver({ store: port, log: this.log, leases: [], options })
    await over.system.start()
    const entries = () => over.bus.announced.flatMap((announcement) => announcement.entries)
    const stop = async (): Promise<void> => {
      recover()
      await over.system.halt()
    }
    this.#all.push({ stop, entries })
    return { ...over, recover }
  }

  #give(lane: number, { to, isTold }: { readonly to: number; readonly isTold: boolean }): void {
    this.#epoch += 1
    const [mine, theirs] = to === 0 ? this.#held : this.#held.toReversed()
    const [me, other] = to === 0 ? [0, 1] : [1, 0]
    mine?.set(lane, { lane, epoch: this.#epoch })
    void this.#processes?.[me ?? 0]?.leases.hold([...(mine?.values() ?? [])])
    if (!isTold) return
    theirs?.delete(lane)
    void this.#processes?.[other ?? 1]?.leases.hold([...(theirs?.values() ?? [])])
  }
}

type Process = ReturnType<typeof systemOver> & { readonly recover: () => void }

export interface Play {
  readonly itemOf: typeof itemOf
  /** The time of the tick that ends each batch; absent without ticks. */
  readonly tickAt?: (step: number, items: readonly Item[]) => number
  /** Applies a lane's log to the store that shows what is expected. */
  readonly apply: typeof fold
}

export const PLAIN: Play = { itemOf, apply: fold }

/** Plays one world; returns a text that says what is wrong, if anything. */
export async function wrongIn(world: World, play: Play = PLAIN): Promise<string | undefined> {
  const cluster = new Cluster(world)
  const { store, log } = cluster
  const lanes: readonly [Item[], Item[]] = [[], []]
  const itemAt = new Map<string, Item>()
  await cluster.start()
  const steps = Math.max(world.batches.length, world.handovers.length)
  for (let step = 0; step < steps; step += 1) {
    const made = (world.batches[step] ?? []).map((one) => ({ ...one, item: play.itemOf(one) }))
    for (const lane of [0, 1] as const) {
      const batch = made.filter(({ parts: { number } }) => laneOfChannel(number) === lane)
      for (const { item, isPoison } of batch) {
        lanes[lane].push(item)
        if (isPoison && isOfEntity(item)) store.poison.add(item.opId)
      }
      if (batch.length === 0) continue
      const acceptedAt = play.tickAt?.(step, lanes[lane])
      const ticks = acceptedAt === undefined ? [] : [{ model: 'tick', acceptedAt } as const]
      lanes[lane].push(...ticks)
      const position = log.put(lane, [...batch.map(({ item }) => item), ...ticks])
      for (const [index, { item }] of batch.entries()) {
        itemAt.set(`${lane} ${position} ${index}`, item)
      }
    }
    const handover = world.handovers[step]
    if (handover !== undefined) await cluster.handOver(handover)
    for (let count = 0; count < world.pause; count += 1) await turn()
  }
  const announced = await cluster.finish()

  const expected = newStore()
  for (const id of store.poison) expected.poison.add(id)
  const mayBeRefused = world.faults.some(({ commits }) => commits.includes('unwilling'))
  const setAside = new Set(
    store.deadLetters.flatMap(({ lane, position, index }) => {
      const item = itemAt.get(`${lane} ${position} ${index}`)
      if (item === undefined || item.model === 'unreadable') return []
      // The fold sets poison aside by itself, but for that which it refuses before. (no such channel)
      const isPoison = isOfEntity(item) && store.poison.has(item.opId)
      return isPoison && !mayBeRefused ? [] : item
    }),
  )
  if (setAside.size > 0 && !mayBeRefused) return 'submissions were set aside without a reason'
  for (const lane of [0, 1] as const) await play.apply(expected, lane, lanes[lane], setAside)

  for (const lane of [0, 1]) {
    const { last } = await log.bounds(lane)
    if (store.lanes.get(lane)?.place !== placeOf(last, 0)) return `lane ${lane} is not applied`
  }
  if (store.violations.length > 0) return `constraints: ${store.violations.join('; ')}`
  if (store.snapshot() !== expected.snapshot()) {
    return `the fold has\n${expected.snapshot()}\nbut the store has\n${store.snapshot()}`
  }
  return announced.map((entries) => wrongAnnouncement(entries, store)).find((wrong) => wrong)
}

/** turn/1: what is announced was committed, and a process announces a channel in seq order. */
function wrongAnnouncement(
  entries: readonly FeedEntry[],
  { feed }: MemoryTurnStore,
): string | undefined {
  const committed = new Set(feed.map((entry) => JSON.stringify(entry)))
  const heads = new Map<string, number>()
  for (const entry of entries) {
    if (!committed.has(JSON.stringify(entry))) return `announced, not kept: ${entry.payload}`
    if (entry.seq <= (heads.get(entry.channelId) ?? 0)) return `announced again: ${entry.seq}`
    heads.set(entry.channelId, entry.seq)
  }
  return undefined
}
