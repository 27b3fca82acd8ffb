// Reads and writes the rules of a turn, and what is due in a lane.
//
// Invariants:
//   R7. Due rows are read in the order of (deadline, rule, Thing), by one index. An Event has a row
//     of its own, too.
//   rule-rows/1. What is due in a deleted channel is skipped: its rows go with the channel. So is
//     that of one whose rows are refused, which would keep the others from their share.

import type { ChannelId, ThingId } from '#domain/identity'
import { DUE_MAX, OF_EVENT, SWEEP_MAX, WAITING_MAX } from '#domain/rules/stored'
import type {
  DueInChannel,
  DueItem,
  DueSweep,
  StoredRule,
  Sweep,
  Watch,
  WatchOf,
} from '#domain/rules/stored'
import { isRecord } from '#domain/record'
import type { ChannelWrites, EntityKey } from '#domain/store-ports'
import type { RuleRow, WatchRow } from '#src/store/entities/rules'
import type { Tables } from '#src/store/entities/tables'
import type { Dialect } from '#src/store/dialect'
import type { Database } from '#src/store/jobs/database'
import type { Executor, RowsStatement } from '#src/store/jobs/executor'
import { OF_CHANNEL, messagesDue, nextMessageDue, notIn } from './scheduled.ts'
import type { Due } from './scheduled.ts'
import { Bulk } from '#src/store/statements/bulk'
import { StoreDefect } from '#src/store/store-error'

const URGENT = { isUrgent: true }

export const RULE_COLUMNS = `r.id AS ruleId, r.version, r.since, r.created_at AS createdAt,
  r.updated_at AS updatedAt, r.document AS text`

/** The rules of these channels. */
export async function rulesOf(executor: Executor, ids: readonly ChannelId[]) {
  if (ids.length === 0) return []
  return executor.all<StoredRule & { readonly channelId: ChannelId }>(
    `SELECT${executor.dialect.inOrder} c.channel_id AS channelId, ${RULE_COLUMNS}
      FROM ${executor.dialect.keys('k', { channel_id: 'text' })}
      CROSS JOIN channels c ON c.channel_id = k.channel_id
      CROSS JOIN rules r ON r.channel = c.id`,
    [JSON.stringify(ids.map((id) => [id]))],
  )
}

/** The watches of these Things. */
export async function watchesOf(
  executor: Executor,
  wanted: readonly EntityKey[],
): Promise<readonly (WatchOf & { readonly channelId: ChannelId })[]> {
  if (wanted.length === 0) return []
  const rows = await executor.all<
    Omit<WatchOf, 'watch'> & { readonly channelId: ChannelId; readonly document: string }
  >(
    `SELECT${executor.dialect.inOrder} c.channel_id AS channelId, w.rule_id AS ruleId,
        w.thing_id AS thingId, w.document
      FROM ${executor.dialect.keys('k', { channel_id: 'text', id: 'text' })}
      CROSS JOIN channels c ON c.channel_id = k.channel_id
      CROSS JOIN watches w ON w.channel = c.id AND w.thing_id = k.id AND w.rule_id <> ''`,
    [JSON.stringify(wanted.map(({ channelId, id }) => [channelId, id]))],
  )
  return rows.map(({ document, ...row }) => ({ ...row, watch: parsed<Watch>(document) }))
}

interface DueRow extends DueItem {
  readonly channel: number
  readonly channelId: ChannelId
  readonly document: string
}

/** Reads the Messages and deadlines of a lane that are due by a time. (R7) */
export function dueIn(
  database: Database,
  { lane, upTo, max = DUE_MAX, except = [] }: Due,
): Promise<readonly DueInChannel[]> {
  return database.read(async (executor) => {
    const messages = await messagesDue(executor, { lane, upTo, max, except })
    const left = max - [...messages.values()].flat().length
    const rows = await executor.all<DueRow>(
      `SELECT w.channel, c.channel_id AS channelId, w.rule_id AS ruleId, w.thing_id AS thingId,
          w.document
        FROM watches w ${OF_CHANNEL('w')}
        WHERE w.lane = ? AND w.due <= ? ${notIn(except)}
        ORDER BY w.due, w.rule_id, w.thing_id, w.channel LIMIT ?`,
      [lane, upTo, ...except, left],
    )
    const byChannel = new Map<ChannelId, DueInChannel['items'][number][]>()
    for (const channelId of messages.keys()) byChannel.set(channelId, [])
    let count = 0
    for (const row of rows) {
      if (count >= left) break
      const { channelId } = row
      const item = await itemOf(executor, row, left)
      count += 'thingIds' in item ? item.thingIds.length + 1 : 1
      const items = byChannel.get(channelId)
      if (items === undefined) byChannel.set(channelId, [item])
      else items.push(item)
    }
    return [...byChannel].map(([channelId, items]) => {
      const due = messages.get(channelId)
      return { channelId, items, ...(due && { messages: due }) }
    })
  }, URGENT)
}

async function itemOf(executor: Executor, row: DueRow, max: number) {
  const { ruleId, thingId } = row
  if (ruleId === OF_EVENT) return { eventId: thingId }
  return row.thingId.length === 0 ? sweepOf(executor, row, max) : { ruleId, thingId }
}

/** The next Things of a sweep: those with a watch of the rule, and all others if it asks. */
async function sweepOf(
  executor: Executor,
  { channel, ruleId, document }: DueRow,
  max: number,
): Promise<DueSweep> {
  const limit = Math.min(SWEEP_MAX, max)
  const sweep = parsed<Sweep>(document)
  const { cursor, isOfThings } = sweep
  const found = await executor.all<{ id: ThingId }>(
    `SELECT thing_id AS id FROM watches
      WHERE channel = ? AND rule_id = ? AND thing_id > ? ORDER BY thing_id LIMIT ?`,
    [channel, ruleId, cursor, limit],
  )
  const things = isOfThings
    ? await executor.all<{ id: ThingId }>(
        'SELECT id FROM things WHERE channel = ? AND id > ? ORDER BY id LIMIT ?',
        [channel, cursor, limit],
      )
    : []
  const ids = [...new Set([...found, ...things].map(({ id }) => id))].toSorted()
  const thingIds = ids.slice(0, limit)
  const last = thingIds.at(-1)
  if (last === undefined || thingIds.length < limit) return { ruleId, thingIds }
  return { ruleId, thingIds, next: { ...sweep, cursor: last } }
}

/** The time at which something is due next in a lane. */
export function nextDueIn(database: Database, lane: number): Promise<number | undefined> {
  return database.read(async (executor) => {
    const row = await executor.first<{ due: number }>(
      `SELECT w.due FROM watches w ${OF_CHANNEL('w')}
        WHERE w.lane = ? AND w.due IS NOT NULL
        ORDER BY w.due, w.rule_id, w.thing_id, w.channel LIMIT 1`,
      [lane],
    )
    const message = await nextMessageDue(executor, lane)
    return earlier(row?.due, message)
  }, URGENT)
}

/** The deadlines of a lane, as far as they are counted. */
export function deadlinesIn(database: Database, lane: number): Promise<number> {
  return database.read(async (executor) => {
    const row = await executor.first<{ waiting: number }>(
      `SELECT (SELECT count(*) FROM (SELECT 1 FROM watches
            WHERE lane = ? AND due IS NOT NULL LIMIT ?) w)
          + (SELECT count(*) FROM (SELECT 1 FROM scheduled_messages
            WHERE lane = ? LIMIT ?) m) AS waiting`,
      [lane, WAITING_MAX, lane, WAITING_MAX],
    )
    return Math.min(row?.waiting ?? 0, WAITING_MAX)
  })
}

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)

/** Writes the rules and the watches of a turn. */
export class RuleRows {
  readonly #rules: Bulk<Omit<RuleRow, 'failures' | 'lastFailure'>>
  readonly #watches: Bulk<WatchRow>

  constructor(tables: Tables, { onDuplicate }: Dialect) {
    this.#rules = Bulk.of(tables.rules, {
      leftOut: ['failures', 'lastFailure'],
      onDuplicate: onDuplicate(
        ['channel', 'id'],
        ['version', 'since', 'created_at', 'updated_at', 'document'],
      ),
    })
    this.#watches = Bulk.of(tables.watches, {
      onDuplicate: onDuplicate(['channel', 'rule_id', 'thing_id'], ['lane', 'due', 'document']),
    })
  }

  /** The statements for channels whose rules or watches change. */
  *statements(changed: readonly ChannelWrites[], executor: Executor): Generator<RowsStatement> {
    if (changed.length === 0) return
    for (const { head, rules } of changed) {
      const channel = head.ref
      for (const { ruleId, stored } of rules?.rules ?? []) {
        if (stored === undefined) yield deleted('rules', 'id = ?', [channel, ruleId])
        else yield* this.#rules.inserts([ruleRow(channel, stored)], executor)
      }
      for (const { ruleId, count, last = '' } of rules?.failures ?? []) {
        yield {
          sql: `UPDATE rules SET failures = failures + ?, last_failure = ?
            WHERE channel = ? AND id = ?`,
          rows: 1,
          values: [count, last, channel, ruleId],
        }
      }
      for (const { ruleId, thingId, kept } of rules?.watches ?? []) {
        if (kept !== undefined) continue
        yield deleted('watches', 'rule_id = ? AND thing_id = ?', [channel, ruleId, thingId])
      }
    }
    yield* this.#watches.inserts(changed.flatMap(watchRows), executor)
  }
}

const deleted = (table: string, where: string, values: RowsStatement['values']): RowsStatement => ({
  sql: `DELETE FROM ${table} WHERE channel = ? AND ${where}`,
  rows: 1,
  values,
})

const ruleRow = (channel: number, { ruleId, text, ...rule }: StoredRule) => ({
  channel,
  id: ruleId,
  document: text,
  ...rule,
})

const watchRows = ({ head, rules }: ChannelWrites): WatchRow[] =>
  (rules?.watches ?? []).flatMap(({ ruleId, thingId, kept }) =>
    kept === undefined || rules === undefined
      ? []
      : {
          channel: head.ref,
          ruleId,
          thingId,
          lane: rules.lane,
          due: kept.due ?? null,
          document: JSON.stringify(kept),
        },
  )

function parsed<Kept>(document: string): Kept {
  const value: unknown = JSON.parse(document)
  if (!isRecord(value)) throw new StoreDefect('damaged', 'a stored watch is damaged')
  return value as Kept
}
