// Messages that wait for their time, in memory: the part of the turn store that they use.

import type { ChannelId, OperationId } from '#domain/identity'
import type { DueInChannel } from '#domain/rules/stored'
import { SENT_PER_TICK_MAX } from '#domain/rules/scheduled'
import type {
  ScheduledMessage,
  ScheduledRead,
  ScheduledState,
  ScheduledWrites,
} from '#domain/rules/scheduled'
import type { TurnWrites } from '#domain/store-ports'

interface Row {
  readonly channelId: ChannelId
  readonly lane: number
  readonly kept: ScheduledMessage
}

export class MemoryScheduled {
  readonly rows = new Map<OperationId, Row>()

  of(wanted: readonly ScheduledRead[]): readonly ScheduledState[] {
    return wanted.map(({ channelId, opIds }) => {
      const own = [...this.rows.values()].filter((row) => row.channelId === channelId)
      const found = own.filter(({ kept }) => opIds.includes(kept.opId)).map(({ kept }) => kept)
      return { channelId, waiting: own.length, found }
    })
  }

  write(channelId: ChannelId, writes: ScheduledWrites | undefined): void {
    for (const { opId, kept } of writes?.messages ?? []) {
      if (kept === undefined || writes === undefined) this.rows.delete(opId)
      else this.rows.set(opId, { channelId, lane: writes.lane, kept })
    }
  }

  addDue(due: readonly DueInChannel[], lane: number, upTo: number): readonly DueInChannel[] {
    const rows = this.#ofLane(lane).filter(({ kept }) => kept.deliverAt <= upTo)
    const found = new Map(due.map((one) => [one.channelId, one]))
    for (const { channelId, kept } of rows.slice(0, SENT_PER_TICK_MAX)) {
      const before = found.get(channelId) ?? { channelId, items: [] }
      found.set(channelId, { ...before, messages: [...(before.messages ?? []), kept] })
    }
    return [...found.values()]
  }

  nextDue(lane: number): number | undefined {
    return this.#ofLane(lane)[0]?.kept.deliverAt
  }

  snapshot(): string {
    return JSON.stringify([...this.rows.values()].map((row) => JSON.stringify(row)).toSorted())
  }

  #ofLane(lane: number): readonly Row[] {
    const rows = [...this.rows.values()].filter((row) => row.lane === lane)
    return rows.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  }
}

const orderOf = ({ kept: { deliverAt, opId } }: Row): string =>
  `${String(deliverAt).padStart(20, '0')} ${opId}`

/** The operations of Messages that no longer wait: a commit writes their records anew. */
export const endedIn = ({ channels }: TurnWrites): readonly OperationId[] =>
  channels.flatMap(({ scheduled }) =>
    (scheduled?.messages ?? []).flatMap(({ opId, kept }) => (kept === undefined ? opId : [])),
  )
