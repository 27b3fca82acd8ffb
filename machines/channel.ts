// The machine of a channel: asleep until it knows its head, then turn by turn.
//
//                       ┌─ take ─┐
//   asleep ── load ──▶ awake ◀───┘
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
import type { Operation } from '#domain/operation'
import type { StoredRule } from '#domain/rules/stored'
import type { ChannelHead } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { RuleSet } from '#src/rules/rule-set'
import { refusal } from './decide.ts'
import { decideTurn } from './draft.ts'
import { remember } from './memory.ts'
import { tableOf } from './table.ts'
import type { ChannelContext, ChannelRules, Memory, Take } from './turn-parts.ts'
import { NO_RULES } from './watching.ts'

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
  const { memory, decided } = context
  const { things, events, watches } = memory
  const remembered = things.bytes + events.bytes + watches.bytes
  return remembered + (decided?.bytes ?? 0) + rulesOf(context).bytes
}

type ChannelSignal =
  | {
      readonly type: 'load'
      readonly head: ChannelHead
      readonly rules?: readonly StoredRule[]
    }
  | Take
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
    awake: { on: { take: 'awake', failed: 'asleep' } },
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
      case 'take':
        return takeTurn(channel, signal)
      case 'failed':
        return asleep(channel) // channel/2
    }
  },
  ({ input }: { readonly input: ChannelRules }) => asleep(input),
)

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
  rules: NO_RULES,
})

/**
 * channel/1: remembers the decisions of the turn before, then decides this turn. It forgets
 * afterwards only: the store did not load the entities that the channel knows. (channel/3)
 */
function takeTurn(channel: ChannelContext, signal: Take): ChannelContext {
  const { decided: before, memory } = channel
  if (before === undefined) return { ...channel, decided: decideTurn(channel, signal) }
  const { rememberedBytesMax } = channel
  remember(memory.things, before.things, before.sizes.things)
  remember(memory.events, before.events, before.sizes.events)
  remember(memory.watches, before.watches, before.sizes.watches)
  const remembering = { ...channel, head: before.head, rules: before.rules }
  const decided = decideTurn(remembering, signal)
  for (const kind of [memory.things, memory.events, memory.watches]) {
    kind.keepWithin(rememberedBytesMax) // channel/3
  }
  return { ...remembering, decided }
}

/** Every submission of a channel that does not exist is refused. */
export function refuseAll(submissions: readonly Submission[]): readonly Operation[] {
  return submissions.map((submission) => refusal(submission, 'channel_not_found').operation)
}
