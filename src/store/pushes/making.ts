// Makes the push jobs of a turn, in its transaction, from subscriptions and devices.
//
// Invariants:
//   making/1. Each (channel, seq, device) gets one job, for every subscriber with a provider's
//     route at the time of the commit: the turn holds the locks of its channels' heads, and a
//     device needs that lock to become such a subscriber. (flags/1, subscriptions/2)
//   making/2. A channel without such subscribers costs one look at its head, and nothing when no
//     provider is set up.
//   making/3. Jobs of one device and channel are numbered in the order of their seqs. The statement
//     says so: MySQL may join the written tables in order and give their rows in another one.
//   making/4. An operation with jobs has a row of its own, also when the record of its batch says
//     that it was sent: the row goes before that.

import { ttlOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import type { OperationId } from '#domain/identity'
import { PUSH_LIFE_MS } from '#domain/push'
import type { PushRules } from '#domain/push'
import type { ChannelWrites } from '#domain/store-ports'
import { Bulk } from '#src/store/statements/bulk'
import type { Executor } from '#src/store/jobs/executor'
import type { Dialect } from '#src/store/dialect'
import type { OperationRow } from '#src/store/entities/operations'
import type { Tables } from '#src/store/entities/tables'
import type { PushState } from '#src/store/entities/pushes'

/** Entries of one statement: their keys are one parameter of some tens of KiB. */
const ENTRIES_AT_ONCE = 512

export class JobMaking {
  readonly #rules: PushRules
  readonly #operations: Bulk<OperationRow>

  constructor(rules: PushRules, tables: Tables, { onDuplicate }: Dialect) {
    this.#rules = rules
    this.#operations = Bulk.of(tables.operations, {
      onDuplicate: onDuplicate(['op_id'], ['status']),
    })
  }

  /** Makes jobs; gives the operations that have some. */
  async make(
    executor: Executor,
    written: readonly ChannelWrites[],
  ): Promise<readonly OperationId[]> {
    if (this.#rules.providers.length === 0) return [] // making/2
    const channels = written.filter(({ entries }) => entries.length > 0)
    const flagged = await flaggedAmong(executor, channels)
    if (flagged.size === 0) return [] // making/2
    const queued: OperationRow[] = []
    const fresh = channels
      .filter(({ head }) => flagged.has(head.ref))
      .flatMap(({ head, entries }) => entries.map((entry) => ({ ref: head.ref, entry })))
    for (let start = 0; start < fresh.length; start += ENTRIES_AT_ONCE) {
      const some = fresh.slice(start, start + ENTRIES_AT_ONCE)
      if ((await insertJobs(executor, some, this.#rules)) === 0) continue
      const withJobs = await operationsWithJobs(executor, some)
      for (const { entry } of some) if (withJobs.has(entry.opId)) queued.push(this.#rowOf(entry))
    }
    await this.#operations.write(executor, queued) // making/4
    return queued.map(({ opId }) => opId)
  }

  #rowOf({ opId, channelId, model, entityId, acceptedAt }: FeedEntry): OperationRow {
    const { queued: status } = this.#rules
    const times = { acceptedAt, updatedAt: acceptedAt }
    return { opId, channelId, model, entityId, status, ...times, errorCode: null }
  }
}

async function flaggedAmong(
  executor: Executor,
  channels: readonly ChannelWrites[],
): Promise<ReadonlySet<number>> {
  if (channels.length === 0) return new Set()
  const rows = await executor.all<{ channel: number }>(
    `SELECT${executor.dialect.inOrder} h.channel
      FROM ${executor.dialect.keys('k', { channel: 'integer' })}
      CROSS JOIN channel_heads h ON h.channel = k.channel AND h.has_provider_routes = 1`,
    [JSON.stringify(channels.map(({ head }) => [head.ref]))],
  )
  return new Set(rows.map(({ channel }) => channel))
}

interface NewEntry {
  /** The store's own short name of the channel. */
  readonly ref: number
  readonly entry: FeedEntry
}

/** making/1, making/3: gives the number of new jobs. */
async function insertJobs(
  executor: Executor,
  fresh: readonly NewEntry[],
  { providers }: PushRules,
): Promise<number> {
  const { dialect } = executor
  const keys = dialect.keys('k', {
    channel: 'integer',
    seq: 'integer',
    op_id: 'text',
    thing: 'text',
    state: 'text',
    accepted_at: 'integer',
    expires_at: 'integer',
  })
  const { affected } = await executor.run(
    `INSERT INTO push_jobs (provider, device, route_revision, channel, seq, op_id, thing, state,
        queued_at, due_at, expires_at, attempts, claim)
      SELECT${dialect.inOrder} d.channel_type, d.id, d.route_revision, k.channel, k.seq, k.op_id,
        k.thing, k.state, k.accepted_at, k.accepted_at, k.expires_at, 0, ''
      FROM ${keys}
      CROSS JOIN subscriptions s ON s.channel = k.channel AND s.since_seq < k.seq
      CROSS JOIN devices d ON d.id = s.device
        AND d.channel_type IN (${providers.map(() => '?').join(', ')})
      ORDER BY k.channel, k.seq`,
    [JSON.stringify(fresh.map(keyOf)), ...providers],
  )
  return affected
}

function keyOf({ ref, entry }: NewEntry): readonly (string | number | null)[] {
  const { seq, opId, model, action, entityId, acceptedAt } = entry
  const state: PushState = model === 'thing' && action === 'update' ? 'limited' : 'waiting'
  const thing = model === 'thing' ? entityId : null
  return [ref, seq, opId, thing, state, acceptedAt, expiryOf(entry)]
}

/** The time at which a push expires: after the ttl of a Message that has one. (decisions.md 3) */
const expiryOf = (entry: FeedEntry): number => ttlOf(entry) ?? entry.acceptedAt + PUSH_LIFE_MS

async function operationsWithJobs(
  executor: Executor,
  fresh: readonly NewEntry[],
): Promise<ReadonlySet<OperationId>> {
  const rows = await executor.all<{ opId: OperationId }>(
    `SELECT${executor.dialect.inOrder} k.op_id AS opId
      FROM ${executor.dialect.keys('k', { op_id: 'text' })}
      WHERE EXISTS (SELECT 1 FROM push_jobs j WHERE j.op_id = k.op_id)`,
    [JSON.stringify(fresh.map(({ entry }) => [entry.opId]))],
  )
  return new Set(rows.map(({ opId }) => opId))
}
