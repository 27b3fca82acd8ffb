// The machine of a channel: asleep until it knows its head, then turn by turn.
//
//                       ┌─ taken ─┐
//   asleep ── load ──▶ awake ◀────┘
//      ▲                 │
//      └───── failed ────┘
//
// A successful commit sends no signal, so a turn costs one signal.
//
// Invariants:
//   channel/1. A turn builds on the decisions of the turn before, which may still be committing.
//     The newest turn's decisions stay apart, in `decided`.
//   channel/2. The channel trusts its memory as long as every commit answers. A commit that failed
//     may still have happened: then the channel forgets everything, also the turn that it built on
//     that commit, and loads again.
//   channel/3. The memory of entities is bounded: the channel forgets the least recently touched
//     first, and between turns only. So at its turn it still has every entity that the turn did not
//     load because `isKnown` was true.

import { createMachine, fromTransition } from 'xstate'

import { BoundedItems } from '#domain/bounds/bounded-items'
import type { Event, Thing } from '#domain/entity'
import type { StoredRule } from '#domain/rules/stored'
import type { ChannelHead } from '#domain/store-ports'
import { RuleSet } from '#src/rules/rule-set'
import type { Compile } from '#src/rules/rule-set'
import type { Derive } from './consequences.ts'
import type { Rules } from './decide.ts'
import { entityBytes, watchesBytes } from './memory.ts'
import { tableOf } from './table.ts'
import { NO_RULES } from './watching.ts'
import type { Watches } from './watching.ts'

export interface ChannelRules extends Rules {
  /**
   * Bytes of Things that a channel remembers between turns at most, and as many of Events and of
   * watches. (channel/3)
   */
  readonly rememberedBytesMax: number
  /** Makes the ids of what rules open and send. */
  readonly derive: Derive
  /** Compiles the rules of a channel. */
  readonly compile: Compile
}

/** The entities and watches that a channel remembers between turns, by id. */
export interface Memory {
  readonly things: BoundedItems<Thing>
  readonly events: BoundedItems<Event>
  /** The watches of Things, as far as the channel has rules. */
  readonly watches: BoundedItems<Watches>
}

/** The channel after a turn, as far as the turn touched it. */
export interface Decided {
  readonly head: ChannelHead
  readonly things: ReadonlyMap<string, Thing>
  readonly events: ReadonlyMap<string, Event>
  readonly watches: ReadonlyMap<string, Watches>
  readonly rules: RuleSet
}

export interface ChannelContext extends ChannelRules {
  readonly state: 'asleep' | 'awake'
  readonly head: ChannelHead | undefined
  readonly memory: Memory
  /** The newest turn's decisions. The next turn takes them as committed. (channel/2) */
  readonly decided: Decided | undefined
  /** The bytes of each entity and watch of the newest turn, in their order, and of all. */
  readonly sizes: Sizes
  readonly rules: RuleSet
}

interface Sizes extends Readonly<Record<keyof Memory, readonly number[]>> {
  readonly sum: number
}

/** True when a channel knows an entity without asking the store. */
export function isKnown(
  { memory, decided }: Pick<ChannelContext, 'memory' | 'decided'>,
  kind: keyof Memory,
  id: string,
): boolean {
  return decided?.[kind].has(id) === true || memory[kind].has(id)
}

/** The open Events of a Thing's watches, as far as the channel knows those. */
export function openEventsOf(
  { memory, decided }: Pick<ChannelContext, 'memory' | 'decided'>,
  thingId: string,
): readonly string[] {
  const watches = decided?.watches.get(thingId) ?? memory.watches.get(thingId)
  let open: string[] | undefined
  for (const { eventId } of watches?.values() ?? [])
    if (eventId !== undefined) (open ??= []).push(eventId)
  return open ?? NONE
}

const NONE: readonly string[] = []

/** The rules of a channel with those of its newest turn. */
export const rulesOf = ({ decided, rules }: ChannelContext): RuleSet => decided?.rules ?? rules

/** An estimate of the bytes that a channel's memory and rules take, without compiled rules. */
export function channelBytes(context: ChannelContext): number {
  const { memory, sizes } = context
  const { things, events, watches } = memory
  return things.bytes + events.bytes + watches.bytes + sizes.sum + rulesOf(context).bytes
}

type ChannelSignal =
  | {
      readonly type: 'load'
      readonly head: ChannelHead
      readonly rules?: readonly StoredRule[]
    }
  | { readonly type: 'taken'; readonly decided: Decided }
  | { readonly type: 'failed' }

const emptyMemory = (): Memory => ({
  things: new BoundedItems(),
  events: new BoundedItems(),
  watches: new BoundedItems(),
})

export const channelMachine = createMachine({
  id: 'channel',
  initial: 'asleep',
  states: {
    asleep: { on: { load: 'awake' } },
    awake: { on: { taken: 'awake', failed: 'asleep' } },
  },
})

const table = tableOf(channelMachine)

/**
 * The logic of a channel's actor: the machine above as a table, and an action for each signal.
 * Running the machine itself as the actor's logic costs 3 µs a signal, as much as deciding a
 * submission; this table costs 0.2 µs.
 */
export const channelLogic = fromTransition(
  (channel: ChannelContext, signal: ChannelSignal): ChannelContext => {
    if (table.get(channel.state)?.has(signal.type) !== true) return channel
    switch (signal.type) {
      case 'load':
        return {
          ...channel,
          state: 'awake',
          head: signal.head,
          rules: RuleSet.of(signal.rules ?? [], channel.compile),
        }
      case 'taken':
        return taken(channel, signal.decided)
      case 'failed':
        return asleep(channel) // channel/2
    }
  },
  ({ input }: { readonly input: ChannelRules }) => asleep(input),
)

const NO_SIZES: readonly number[] = []
const NOTHING: Sizes = { things: NO_SIZES, events: NO_SIZES, watches: NO_SIZES, sum: 0 }

const asleep = ({
  endedLifeMs,
  rememberedBytesMax,
  derive,
  compile,
}: ChannelRules): ChannelContext => ({
  endedLifeMs,
  rememberedBytesMax,
  derive,
  compile,
  state: 'asleep',
  head: undefined,
  memory: emptyMemory(),
  decided: undefined,
  sizes: NOTHING,
  rules: NO_RULES,
})

/**
 * channel/1: remembers the decisions of the turn before, and keeps those of this turn apart. Both
 * turns were decided on what it remembered until now, so only now it forgets. (channel/3)
 */
function taken(channel: ChannelContext, decided: Decided): ChannelContext {
  const { decided: before, memory, sizes, rememberedBytesMax: bytesMax, head, rules } = channel
  if (before !== undefined) {
    remember(memory.things, before.things, { sizes: sizes.things, bytesMax })
    remember(memory.events, before.events, { sizes: sizes.events, bytesMax })
    remember(memory.watches, before.watches, { sizes: sizes.watches, bytesMax })
  }
  const committed = { head: before?.head ?? head, rules: before?.rules ?? rules }
  return { ...channel, ...committed, decided, sizes: sizesOf(decided) }
}

/** Remembers items as the most recently touched; `sizes` has the bytes of each, in order. */
function remember<Item>(
  items: BoundedItems<Item>,
  touched: ReadonlyMap<string, Item>,
  { sizes, bytesMax }: { readonly sizes: readonly number[]; readonly bytesMax: number },
): void {
  if (touched.size === 0) return
  let at = 0
  for (const [id, item] of touched) {
    items.keep(id, item, sizes[at] ?? 0)
    at += 1
  }
  items.keepWithin(bytesMax)
}

function sizesOf(decided: Decided): Sizes {
  const things = eachOf(decided.things, entityBytes)
  const events = eachOf(decided.events, entityBytes)
  const watches = eachOf(decided.watches, watchesBytes)
  let sum = 0
  for (const bytes of things) sum += bytes
  for (const bytes of events) sum += bytes
  for (const bytes of watches) sum += bytes
  return { things, events, watches, sum }
}

function eachOf<Item>(
  items: ReadonlyMap<string, Item>,
  sizeOf: (item: Item) => number,
): readonly number[] {
  if (items.size === 0) return NO_SIZES
  const sizes: number[] = []
  for (const item of items.values()) sizes.push(sizeOf(item))
  return sizes
}
