// What other processes are told of a committed turn.
//
// Invariants:
//   announcing/1. Of a turn whose part of a lane has several writers every process is told, and of
//     one that changed rules, since each may accept what these multiply.
//   announcing/2. Of a channel with more than FEW_RULES that one update may set off, every turn
//     tells how many; so does one that changes its rules, however few they are then. (W8)

import type { Announcement } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import { positionOf } from '#domain/lane'
import type { Bus, Reach } from '#domain/ports'
import { FEW_RULES } from '#domain/rules/stored'
import type { ChannelTurn } from '#machines/channel-turn'
import type { Applied } from './purge.ts'
import type { DecidedTurn, TurnEnd } from './turn.ts'

type Told = Pick<ChannelTurn, 'lane' | 'reach' | 'ruleEffects'>

/** A turn that is applied, and what each of its channels decided. */
export interface AppliedTurn extends Pick<DecidedTurn, 'items' | 'moves'> {
  readonly channels: ReadonlyMap<ChannelId, { readonly turn: Told }>
}

export type Committed = Extract<TurnEnd, { kind: 'committed' }> & AppliedTurn

/** Tells the listeners of channels what is new, and every process where the lanes stand. */
export function announce(bus: Bus, committed: Committed, isForAll: boolean): void {
  const { channels, queued } = committed
  const announcements: Announcement[] = []
  for (const [channelId, { turn }] of channels) {
    const { entries } = turn
    if (entries.length > 0) announcements.push({ channelId, entries })
  }
  bus.announce(announcements)
  for (const { notice, writer } of appliedNotices(committed))
    bus.notify(notice, isForAll ? undefined : writer)
  if (queued.length > 0) bus.notify({ kind: 'pushes-queued' })
}

/**
 * Returns what processes are told of a turn that is applied: for each lane the place where it
 * stands, and the only writer of its items, who alone waits for it. (announcing/1)
 */
export function appliedNotices({ items, moves, channels }: AppliedTurn) {
  const writers = new Map<number, string | undefined>()
  for (const { lane, writer } of items) {
    const isOnly = !writers.has(lane) || writers.get(lane) === writer
    writers.set(lane, isOnly ? writer : undefined)
  }
  const reaching: [ChannelId, Told][] = []
  for (const [channelId, { turn }] of channels) {
    if (isTold(turn)) reaching.push([channelId, turn])
  }
  return moves.map(({ lane, to }) => {
    const here = reaching.filter(([, turn]) => turn.lane === lane)
    const reaches = here.map(([channelId, { reach }]): Reach => [channelId, reach])
    const notice: Applied = {
      kind: 'applied',
      lane,
      position: positionOf(to),
      ...(reaches.length > 0 && { reaches }),
    }
    const isForAll = here.some(([, turn]) => hasChanged(turn))
    return { notice, writer: isForAll ? undefined : writers.get(lane) }
  })
}

const hasChanged = ({ ruleEffects }: Told): boolean => (ruleEffects?.rules.length ?? 0) > 0

/** announcing/2 */
const isTold = (told: Told): boolean => told.reach > FEW_RULES || hasChanged(told)
