// The lanes that this process owns, and the next piece of work from them.

import { appliedIn, placeOf, positionOf } from '#domain/lane'
import type { LanePlace, Lease, LogEntry } from '#domain/lane'
import type { LogReader } from '#domain/ports'
import type { LaneMove } from '#domain/store-ports'
import type { DecidedLane, Item } from './turn-item.ts'

/** A lane that this process owns. */
export interface OwnedLane extends Lease {
  /** The place up to which it is applied, as the database says. */
  place: LanePlace
  /** The place up to which it is decided: ahead of `place` while a turn commits. */
  decidedTo: LanePlace
  /** False after a read found nothing more; a wake-up makes it true. */
  mayHaveMore: boolean
}

/**
 * Returns the next submissions of the lanes, in order within each; at most `max`. Rejects when the
 * first lane that it asks for cannot be read; another such lane ends the list. (lane-troubles/1)
 */
export async function collect(
  lanes: readonly OwnedLane[],
  log: LogReader,
  max: number,
): Promise<readonly Item[]> {
  const items: Item[] = []
  for (const owned of lanes) {
    if (!owned.mayHaveMore) continue
    if (items.length >= max) break
    owned.mayHaveMore = false // Before the read: a wake-up during it must not be lost.
    try {
      const entries = await log.read(owned.lane, positionOf(owned.decidedTo), max - items.length)
      if (entries.length > 0) owned.mayHaveMore = true
      appendItems(items, owned, entries)
    } catch (error) {
      owned.mayHaveMore = true
      if (items.length === 0) throw error
      break
    }
  }
  return items.length > max ? items.slice(0, max) : items
}

function appendItems(items: Item[], owned: OwnedLane, entries: readonly LogEntry[]): void {
  let behind = positionOf(owned.decidedTo)
  let skip = appliedIn(owned.decidedTo)
  for (const { lane, position, submissions, writer } of entries) {
    const last = submissions.length - 1
    for (let index = skip; index <= last; index += 1) {
      const submission = submissions[index]
      if (submission === undefined) break
      const placeAfter = index === last ? placeOf(position, 0) : placeOf(behind, index + 1)
      items.push(
        writer === undefined
          ? { lane, position, index, placeAfter, submission }
          : { lane, position, index, placeAfter, submission, writer },
      )
    }
    behind = position
    skip = 0
  }
}

/** The moves of the lanes when these items are applied: each lane moves behind its last item. */
export function movesOf(
  items: readonly Item[],
  lanes: ReadonlyMap<number, DecidedLane>,
): readonly LaneMove[] {
  const ends = new Map<number, LanePlace>()
  for (const item of items) ends.set(item.lane, item.placeAfter)
  return [...ends].flatMap(([lane, to]): LaneMove[] => {
    const owned = lanes.get(lane)
    return owned === undefined ? [] : [{ lane, epoch: owned.epoch, from: owned.decidedTo, to }]
  })
}

/** True when the lane stands right before this item, so that applying it leaves nothing out. */
export function isNext(item: Item, place: LanePlace): boolean {
  return place < item.placeAfter
}
