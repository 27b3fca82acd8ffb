// The position up to which each device has acknowledged each of its channels.
//
// Invariants:
//   acknowledgements/1. A position only grows, and never beyond the channel's head: a device cannot
//     acknowledge entries that do not exist yet.
//   acknowledgements/2. With single acknowledgements the position stands right before the first
//     deliverable that is not acknowledged, by the rule of deliverables.ts, or at the head when
//     there is none. A job looks through a bounded part of the feed for it, and the next one goes
//     on from there. (deliverables/1)
//   acknowledgements/3. At most ACKED_AHEAD_MAX seqs a channel are kept as acknowledged ahead of
//     the position. The furthest are given up first: their entries are delivered once more.

import type { Acknowledgement } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import { ACKED_AHEAD_MAX } from '#domain/store-ports'
import { Bulk } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { deliverableSeqs } from './deliverables.ts'
import type { SubscriptionRow } from '#src/store/entities/devices'
import type { Tables } from '#src/store/entities/tables'

export interface AckedEntry {
  readonly channelId: ChannelId
  readonly seq: number
}

/** A subscription with its channel's head and the seq that is acknowledged now. */
type LockedSubscription = SubscriptionRow & { readonly headSeq: number; readonly seq: number }

const SEQS_AT_ONCE = 256
/** Channels of single acknowledgements in a job: some 6 ms of it. */
const CHANNELS_OF_JOB = 16

type MovedRow = Omit<SubscriptionRow, 'notify'>

export class Acknowledgements {
  readonly #database: Database
  readonly #moved: Bulk<MovedRow>

  constructor(database: Database, tables: Tables) {
    const { onDuplicate } = database.dialect
    this.#database = database
    this.#moved = Bulk.of<MovedRow>(tables.subscriptions, {
      leftOut: ['notify'],
      onDuplicate: onDuplicate(['channel', 'device'], ['acked_seq', 'acked_ahead']),
    })
  }

  /**
   * Acknowledges everything up to a seq, for many devices. A power cut may undo it: then those
   * entries are sent again.
   */
  upTo(acknowledgements: readonly Acknowledgement[]): Promise<void> {
    if (acknowledgements.length === 0) return Promise.resolve()
    const job = async (executor: Executor): Promise<void> => {
      const moved = new Map<string, MovedRow>()
      for (const { seq, headSeq, ...held } of await lockSubscriptions(executor, acknowledgements)) {
        const key = `${held.channel} ${held.device}`
        const known = moved.get(key)?.ackedSeq ?? held.ackedSeq
        const ackedSeq = Math.min(seq, headSeq)
        if (ackedSeq <= known) continue // acknowledgements/1
        const ahead = aheadOf(held).filter((single) => single > ackedSeq)
        moved.set(key, { ...held, ackedSeq, ackedAhead: JSON.stringify(ahead) })
      }
      await this.#moved.write(executor, [...moved.values()].toSorted(byKey))
    }
    return this.#database.repeatable(job, { isIdempotent: true })
  }

  /**
   * Acknowledges single entries for one device, in any order, some channels in a job. Gives the
   * number of new ones that are kept.
   */
  async single(deviceId: DeviceId, entries: readonly AckedEntry[]): Promise<number> {
    const byChannel = Map.groupBy(entries, ({ channelId }) => channelId)
    const all = Array.from(byChannel, ([channelId, acked]): Acknowledging => {
      const wanted = { deviceId, channelId, seq: 0 }
      return { wanted, seqs: acked.map(({ seq }) => seq), isAgain: false }
    })
    let news = 0
    for (let start = 0; start < all.length; start += CHANNELS_OF_JOB) {
      let open: readonly Acknowledging[] = all.slice(start, start + CHANNELS_OF_JOB)
      while (open.length > 0) {
        const steps = await this.#step(open)
        for (const step of steps) news += step.news
        const further = open.filter((_, at) => steps[at]?.goesOn)
        open = further.map(({ wanted }) => ({ wanted, seqs: [], isAgain: true }))
      }
    }
    return news
  }

  #step(open: readonly Acknowledging[]): Promise<readonly Acknowledged[]> {
    return this.#database.repeatable(async (executor) => {
      const steps: Acknowledged[] = []
      for (const one of open) {
        const [held] = await lockSubscriptions(executor, [one.wanted])
        steps.push(held === undefined ? NOTHING : await this.#acknowledge(executor, held, one))
      }
      return steps
    })
  }

  async #acknowledge(
    executor: Executor,
    held: LockedSubscription,
    { seqs, isAgain }: Acknowledging,
  ): Promise<Acknowledged> {
    const { headSeq, seq: _, ...row } = held
    const before = new Set(aheadOf(row))
    const fresh = new Set(
      // acknowledgements/1
      seqs.filter((seq) => seq > row.ackedSeq && seq <= headSeq && !before.has(seq)),
    )
    if (fresh.size === 0 && !isAgain) return NOTHING
    const acked = new Set([...before, ...fresh])
    const { ackedSeq, goesOn } = await advance(executor, held, acked) // acknowledgements/2
    const ahead = [...acked].filter((seq) => seq > ackedSeq).sort((a, b) => a - b)
    const kept = ahead.slice(0, ACKED_AHEAD_MAX) // acknowledgements/3
    const givenUp = ahead.slice(ACKED_AHEAD_MAX).filter((seq) => fresh.has(seq))
    await this.#moved.write(executor, [{ ...row, ackedSeq, ackedAhead: JSON.stringify(kept) }])
    return { news: fresh.size - givenUp.length, goesOn }
  }
}

/** A device acknowledges these entries of one channel. */
interface Acknowledging {
  readonly wanted: Acknowledgement
  readonly seqs: readonly number[]
  /** True when the position goes on, whether there are new ones or not. */
  readonly isAgain: boolean
}

/** A job gives this for one channel. */
interface Acknowledged {
  readonly news: number
  /** True when the position may go on further. */
  readonly goesOn: boolean
}

const NOTHING: Acknowledged = { news: 0, goesOn: false }

/** acknowledgements/2: the position once these seqs are acknowledged too. */
async function advance(
  executor: Executor,
  { channel, sinceSeq, ackedSeq, headSeq }: LockedSubscription,
  acked: ReadonlySet<number>,
): Promise<{ readonly ackedSeq: number } & Pick<Acknowledged, 'goesOn'>> {
  let afterSeq = ackedSeq
  for (;;) {
    const progress = { channel, afterSeq, sinceSeq }
    const { seqs, end } = await deliverableSeqs(executor, progress, SEQS_AT_ONCE)
    const open = seqs.find((seq) => !acked.has(seq))
    // When a turn commits between the reads of Messages and Things, only its Things are seen:
    // nothing beyond the head is known yet.
    if (open !== undefined) return { ackedSeq: Math.min(open - 1, headSeq), goesOn: false }
    const last = seqs.at(-1)
    if (last !== undefined && seqs.length === SEQS_AT_ONCE) afterSeq = last
    else if (end === undefined || end >= headSeq) return { ackedSeq: headSeq, goesOn: false }
    else return { ackedSeq: end, goesOn: true }
  }
}

/**
 * Locks the subscriptions of acknowledgements, in the order of their keys; leaves unknown ones out.
 * It locks no other row: the rows of channels, heads and devices belong to other writers.
 */
async function lockSubscriptions(
  executor: Executor,
  wanted: readonly Acknowledgement[],
): Promise<LockedSubscription[]> {
  const { dialect } = executor
  const named = await executor.all<Key & { readonly seq: number }>(
    `SELECT${dialect.inOrder} c.id AS channel, d.id AS device, k.seq
      FROM ${dialect.keys('k', { device_id: 'text', channel_id: 'text', seq: 'integer' })}
      CROSS JOIN devices d ON d.device_id = k.device_id
      CROSS JOIN channels c ON c.channel_id = k.channel_id`,
    [JSON.stringify(wanted.map(({ deviceId, channelId, seq }) => [deviceId, channelId, seq]))],
  )
  if (named.length === 0) return []
  const keys = named.toSorted(byKey).map(({ channel, device, seq }) => [channel, device, seq])
  // MySQL refuses FOR UPDATE beside JSON_TABLE itself (error 3569); in a derived table it is
  // allowed, and locks no row of another table.
  return executor.all<LockedSubscription>(
    `SELECT${dialect.inOrder} s.channel, s.device, s.since_seq AS sinceSeq, s.acked_seq AS ackedSeq,
        s.acked_ahead AS ackedAhead, s.created_at AS createdAt, k.seq,
        (SELECT h.head_seq FROM channel_heads h WHERE h.channel = s.channel) AS headSeq
      FROM (SELECT *
        FROM ${dialect.keys('k', { channel: 'integer', device: 'integer', seq: 'integer' })}) k
      CROSS JOIN subscriptions s ON s.channel = k.channel AND s.device = k.device
      ${dialect.forUpdate}`,
    [JSON.stringify(keys)],
  )
}

type Key = Pick<SubscriptionRow, 'channel' | 'device'>

const byKey = (one: Key, other: Key): number =>
  one.channel - other.channel || one.device - other.device

/** The seqs acknowledged ahead of the position, ascending. */
export function aheadOf({ ackedAhead }: Pick<SubscriptionRow, 'ackedAhead'>): readonly number[] {
  const seqs: unknown = JSON.parse(ackedAhead)
  return Array.isArray(seqs) ? seqs.filter((seq): seq is number => typeof seq === 'number') : []
}
