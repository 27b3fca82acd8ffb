// Reads and writes the Messages that wait for their time.

import type { ChannelId, MessageId, OperationId } from '#domain/identity'
import { isRecord } from '#domain/record'
import { SENT_PER_TICK_MAX } from '#domain/rules/scheduled'
import type { ScheduledMessage, ScheduledRead, ScheduledState } from '#domain/rules/scheduled'
import type { PutOff } from '#domain/rules/stored'
import type { ChannelWrites, DueLimits } from '#domain/store-ports'
import type { Fields } from '#domain/submission'
import type { ScheduledRow } from '#src/store/entities/rules'
import type { Tables } from '#src/store/entities/tables'
import type { Executor, RowsStatement } from '#src/store/jobs/executor'
import { Bulk } from '#src/store/statements/bulk'
import { StoreDefect } from '#src/store/store-error'

type Row = Pick<ScheduledRow, 'due' | 'document'> & {
  readonly channelId: ChannelId
  readonly opId: OperationId
  readonly messageId: MessageId
}

/** Joins the channel of a row that may be due, which is not deleted. (rule-rows/1) */
export const OF_CHANNEL = (row: string): string =>
  `JOIN channels c ON c.id = ${row}.channel AND c.is_deleted = 0`

/** Leaves channels out whose ids are parameters. (rule-rows/1) */
export const notIn = (channels: readonly ChannelId[]): string =>
  channels.length === 0 ? '' : `AND c.channel_id NOT IN (${channels.map(() => '?').join(', ')})`

const COLUMNS = 'c.channel_id AS channelId, m.op_id AS opId, m.due, m.message_id AS messageId'

/** The Messages of channels that a turn asks for, and the number of all that wait. */
export async function scheduledOf(
  executor: Executor,
  wanted: readonly ScheduledRead[],
): Promise<readonly ScheduledState[]> {
  if (wanted.length === 0) return []
  const keys = wanted.flatMap(({ channelId, opIds }) => opIds.map((opId) => [channelId, opId]))
  const { inOrder, keys: keysOf } = executor.dialect
  const rows = await executor.all<Row>(
    `SELECT${inOrder} ${COLUMNS}, m.document
      FROM ${keysOf('k', { channel_id: 'text', op_id: 'text' })}
      CROSS JOIN channels c ON c.channel_id = k.channel_id
      CROSS JOIN scheduled_messages m ON m.channel = c.id AND m.op_id = k.op_id`,
    [JSON.stringify(keys)],
  )
  const counts = await executor.all<{ channelId: ChannelId; waiting: number }>(
    `SELECT${inOrder} c.channel_id AS channelId, count(*) AS waiting
      FROM ${keysOf('k', { channel_id: 'text' })}
      CROSS JOIN channels c ON c.channel_id = k.channel_id
      CROSS JOIN scheduled_messages m ON m.channel = c.id
      GROUP BY c.channel_id`,
    [JSON.stringify(wanted.map(({ channelId }) => [channelId]))],
  )
  const waiting = new Map(counts.map((count) => [count.channelId, count.waiting]))
  const found = Map.groupBy(rows, ({ channelId }) => channelId)
  return wanted.map(({ channelId }) => ({
    channelId,
    waiting: waiting.get(channelId) ?? 0,
    found: (found.get(channelId) ?? []).map(messageOf),
  }))
}

export interface Due extends DueLimits {
  readonly lane: number
  readonly upTo: number
}

/** The Messages of a lane that are due by a time, by channel, in the order of their times. */
export async function messagesDue(
  executor: Executor,
  { lane, upTo, max, except }: Required<Due>,
): Promise<ReadonlyMap<ChannelId, readonly ScheduledMessage[]>> {
  const rows = await executor.all<Row>(
    `SELECT ${COLUMNS}, m.document
      FROM scheduled_messages m ${OF_CHANNEL('m')}
      WHERE m.lane = ? AND m.due <= ? ${notIn(except)}
      ORDER BY m.due, m.op_id, m.channel LIMIT ?`,
    [lane, upTo, ...except, Math.min(max, SENT_PER_TICK_MAX)],
  )
  const groups = Map.groupBy(rows, ({ channelId }) => channelId)
  return new Map([...groups].map(([channelId, list]) => [channelId, list.map(messageOf)]))
}

/** The time at which the next Message of a lane is due. */
export async function nextMessageDue(
  executor: Executor,
  lane: number,
): Promise<number | undefined> {
  const row = await executor.first<{ due: number }>(
    `SELECT m.due FROM scheduled_messages m ${OF_CHANNEL('m')}
      WHERE m.lane = ? ORDER BY m.due, m.op_id, m.channel LIMIT 1`,
    [lane],
  )
  return row?.due
}

function messageOf({ opId, messageId, due, document }: Row): ScheduledMessage {
  const fields: unknown = JSON.parse(document)
  if (!isRecord(fields)) throw new StoreDefect('damaged', 'a scheduled Message is damaged')
  return { opId, messageId, deliverAt: due, fields: fields as Fields }
}

/** Writes the Messages of a turn that wait, and removes those that no longer do. */
export class ScheduledRows {
  readonly #messages: Bulk<ScheduledRow>

  constructor(tables: Tables) {
    this.#messages = Bulk.of(tables.scheduled)
  }

  /** The statements for channels whose waiting Messages change. */
  *statements(channels: readonly ChannelWrites[], executor: Executor): Generator<RowsStatement> {
    const rows: ScheduledRow[] = []
    for (const { head, scheduled } of channels) {
      for (const { opId, kept } of scheduled?.messages ?? []) {
        if (kept !== undefined && scheduled !== undefined) {
          rows.push(rowOf(kept, head.ref, scheduled.lane))
          continue
        }
        yield {
          sql: 'DELETE FROM scheduled_messages WHERE channel = ? AND op_id = ?',
          rows: 1,
          values: [head.ref, opId],
        }
        // The turn writes its record anew.
        yield { sql: 'DELETE FROM operations WHERE op_id = ?', rows: 1, values: [opId] }
      }
    }
    yield* this.#messages.inserts(rows, executor)
  }
}

const rowOf = (
  { opId, messageId, deliverAt, fields }: ScheduledMessage,
  channel: number,
  lane: number,
): ScheduledRow => ({
  channel,
  opId,
  lane,
  due: deliverAt,
  messageId,
  document: JSON.stringify(fields),
})

/** W6: makes a row due later. */
export function putOff({ channelId, item, until }: PutOff): RowsStatement {
  const channel = 'channel = (SELECT id FROM channels WHERE channel_id = ?)'
  if ('opId' in item) {
    return {
      sql: `UPDATE scheduled_messages SET due = ? WHERE ${channel} AND op_id = ?`,
      rows: 1,
      values: [until, channelId, item.opId],
    }
  }
  return {
    sql: `UPDATE watches SET due = ? WHERE ${channel} AND rule_id = ? AND thing_id = ?`,
    rows: 1,
    values: [until, channelId, item.ruleId, item.thingId],
  }
}
