// What other processes are told of a committed turn.
//
// Invariants:
//   announcing/1. Of a turn whose part of a lane has several writers every process is told, and of
//     one that changed rules, since each may accept what these multiply.
//   announcing/2. Of a channel with more than FEW_RULES that one update may set off, every turn
//     tells how many; so does one that changes its rules, however few they are then. (W8)

import type { ChannelId } from '#domain/identity'
import { positionOf } from '#domain/lane'
import type { Bus, Reach } from '#domain/ports'
import { FEW_RULES } from '#domain/rules/stored'
import type { TurnOutcome } from './channel.ts'
import type { Applied } from './purge.ts'
import type { TurnEnd } from './turn.ts'
import { isOfChannel } from './turn-item.ts'
import type { Turn } from './turn-item.ts'

type Told = Pick<TurnOutcome, 'head' | 'reach' | 'rules'>

/** A turn that is applied, and what each of its channels decided. */
export type AppliedTurn = Pick<Turn, 'items' | 'moves'> & { readonly outcomes: Iterable<Told> }

export type Committed = Extract<TurnEnd, { kind: 'committed' }> & AppliedTurn

/** Tells the listeners of channels what is new, and every process where the lanes stand. */
export function announce(bus: Bus, committed: Committed, isForAll: boolean): void {
  const { entries: byChannel, queued } = committed
  bus.announce([...byChannel].map(([channelId, entries]) => ({ channelId, entries })))
  for (const { notice, writer } of appliedNotices(committed))
    bus.notify(notice, isForAll ? undefined : writer)
  if (queued.length > 0) bus.notify({ kind: 'pushes-queued' })
}

/**
 * Returns what processes are told of a turn that is applied: for each lane the place where it
 * stands, and the only writer of its items, who alone waits for it. (announcing/1)
 */
export function appliedNotices({ items, moves, outcomes }: AppliedTurn) {
  const writers = new Map<number, string | undefined>()
  for (const { lane, writer } of items) {
    const isOnly = !writers.has(lane) || writers.get(lane) === writer
    writers.set(lane, isOnly ? writer : undefined)
  }
  const reaching = [...outcomes].filter(isTold)
  const lanes = reaching.length === 0 ? NO_LANES : lanesOf(items)
  return moves.map(({ lane, to }) => {
    const here = reaching.filter(({ head }) => lanes.get(head.channelId) === lane)
    const reaches = here.map(({ head, reach }): Reach => [head.channelId, reach])
    const notice: Applied = {
      kind: 'applied',
      lane,
      position: positionOf(to),
      ...(reaches.length > 0 && { reaches }),
    }
    return { notice, writer: here.some(hasChanged) ? undefined : writers.get(lane) }
  })
}

const hasChanged = ({ rules }: Told): boolean => rules.rules.length > 0

/** announcing/2 */
const isTold = (told: Told): boolean => told.reach > FEW_RULES || hasChanged(told)

const NO_LANES: ReadonlyMap<ChannelId, number> = new Map()

function lanesOf(items: Turn['items']): ReadonlyMap<ChannelId, number> {
  const lanes = new Map<ChannelId, number>()
  for (const { lane, submission } of items) {
    if (isOfChannel(submission)) lanes.set(submission.channelId, lane)
  }
  return lanes
}
