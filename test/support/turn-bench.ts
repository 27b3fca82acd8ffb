// Turns without a system around them.

import { ChannelDirectory } from '#actors/channel'
import { commitTurn, decideTurn } from '#actors/turn'
import type { TurnEnd } from '#actors/turn'
import type { Item, Turn } from '#actors/turn-item'
import { placeOf } from '#domain/lane'
import { EMPTY_BODY } from '#domain/patch'
import type { Submission } from '#domain/submission'
import { entityBytes } from '#machines/memory'
import { MemoryTurnStore } from '#test/support/memory-turn-store'
import { derived } from '#test/support/rules'
import { channel } from '#test/support/submissions'

/** Entities without values, with ids of one character, that a channel remembers. */
export const REMEMBERED = 4

/** Limits of the directory. */
export const LIMITS = {
  endedLifeMs: 1000,
  derive: derived,
  rememberedBytesMax: REMEMBERED * entityBytes({ id: '0', ...EMPTY_BODY }),
  liveMax: 10,
  cachedBytesMax: 100_000,
  idleMs: 1000,
}
/** The time of every turn. */
export const NOW_MS = 5000

/** One lane, its store with channels 1 and 2, and the directory, as the system holds them. */
export class TurnBench {
  readonly store = new MemoryTurnStore([channel(1), channel(2)])
  directory = new ChannelDirectory(LIMITS)
  #position = 0

  async begin(): Promise<this> {
    await this.store.takeLane({ lane: 0, epoch: 1 })
    return this
  }

  /** Items of one entry, and the move to behind it. */
  turnOf(submissions: readonly Item['submission'][], more: Partial<Turn> = {}): Turn {
    const from = placeOf(this.#position, 0)
    this.#position += 1
    const position = this.#position
    const to = placeOf(position, 0)
    const items = submissions.map((submission, index) => ({
      lane: 0,
      position,
      index,
      placeAfter: to,
      submission,
    }))
    return { items, lanes: new Map([[0, { epoch: 1, decidedTo: from }]]), nowMs: NOW_MS, ...more }
  }

  async take(turn: Turn): Promise<TurnEnd> {
    const { store, directory } = this
    return commitTurn({ store }, await decideTurn({ store, directory }, turn))
  }

  async apply(...submissions: readonly Submission[]) {
    const end = await this.take(this.turnOf(submissions))
    if (end.kind !== 'committed') throw new Error('the turn was fenced')
    return end
  }

  statusOf(submission: Submission): string | undefined {
    const operation = this.store.operations.get(submission.opId)
    return operation?.errorCode ?? operation?.status
  }
}

/** A bench that owns its lane. */
export const newBench = (): Promise<TurnBench> => new TurnBench().begin()
