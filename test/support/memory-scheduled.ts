// Messages that wait for their time, in memory: the part of the turn store that they use.

import type { ChannelId, OperationId } from '#domain/identity'
import type { DueInChannel, PutOff } from '#domain/rules/stored'
import { SENT_PER_TICK_MAX } from '#domain/rules/scheduled'
import type {
  ScheduledMessage,
  ScheduledRead,
  ScheduledState,
  ScheduledWrites,
} from '#domain/rules/scheduled'
import type { TurnWrites } from '#domain/store-ports'

interface Asked {
  readonly lane: number
  readonly upTo: number
  readonly max?: number | undefined
  readonly except: readonly ChannelId[]
}

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

  due({ lane, upTo, max = SENT_PER_TICK_MAX, except }: Asked): readonly DueInChannel[] {
    const rows = this.#ofLane(lane).filter(
      ({ kept, channelId }) => kept.deliverAt <= upTo && !except.includes(channelId),
    )
    const some = rows.slice(0, Math.min(max, SENT_PER_TICK_MAX))
    return [...Map.groupBy(some, ({ channelId }) => channelId)].map(([channelId, own]) => ({
      channelId,
      items: [],
      messages: own.map(({ kept }) => kept),
    }))
  }

  putOff(put: PutOff | undefined): void {
    if (put === undefined || !('opId' in put.item)) return
    const { opId } = put.item
    const row = this.rows.get(opId)
    if (row !== undefined) {
      this.rows.set(opId, { ...row, kept: { ...row.kept, deliverAt: put.until } })
    }
  }

  waiting(lane: number): number {
    return this.#ofLane(lane).length
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
