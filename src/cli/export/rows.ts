// One table of everything that a channel keeps: a row for each value of a Thing, one for each
// bucket of its series, and one for each Message and each change of an Event.

import { isRecord, numberIn, textIn } from '#domain/record'
import type { DataOf } from '#src/client/bodies'
import type { ExportLine } from '#src/client/export'

/** The columns, with the kind of their values: `time` is Unix milliseconds. */
export const COLUMNS = {
  kind: 'text',
  seq: 'integer',
  id: 'text',
  action: 'text',
  state: 'text',
  accepted_at: 'time',
  /** When it was observed or happened. */
  time: 'time',
  title: 'text',
  severity: 'text',
  attr: 'text',
  /** A value that is a number, or the mean of a bucket. */
  number: 'number',
  /** The text of a Message or an Event, and each value that is no number. */
  text: 'text',
  /** Of a bucket. */
  step: 'text',
  min: 'number',
  max: 'number',
  last: 'number',
  count: 'integer',
} as const

export type ColumnName = keyof typeof COLUMNS
export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly ColumnName[]
/** A value that is absent is no member. */
export type ExportRow = { readonly [Name in ColumnName]?: string | number | undefined }

type Values = Readonly<Record<string, unknown>>

/** The rows of a line; none of a line that only tells how far the export is. */
export function rowsOf(line: ExportLine): Iterable<ExportRow> {
  const { kind } = line
  if (kind === 'progress' || kind === 'end') return []
  if (kind === 'series') return bucketsOf(line)
  // The present state of a Thing has the members that changes have in their payload.
  const content: Values = kind === 'thing' ? line : isRecord(line.payload) ? line.payload : {}
  const row: ExportRow = {
    kind,
    seq: line.seq,
    id: line.entity_id ?? line.thing_id,
    action: line.action,
    state: line.state,
    accepted_at: line.accepted_at ?? numberIn(content['changed_at']),
    // Late data has its own time beside `observed_at`, which is that of the Thing.
    time: numberIn(
      content['set_at'] ??
        content['observed_at'] ??
        content['event_time'] ??
        content['occurred_at'],
    ),
    title: textIn(content['title']),
    severity: textIn(content['severity']),
  }
  const attrs = isRecord(content['attrs']) ? Object.entries(content['attrs']) : []
  if (kind === 'message' || kind === 'event' || attrs.length === 0) {
    const said = content['body'] ?? content['message'] ?? content['description']
    return [{ ...row, text: textIn(said) }]
  }
  return attrs.map(([attr, value]) => ({ ...row, attr, ...valueOf(value) }))
}

function valueOf(value: unknown): ExportRow {
  if (typeof value === 'number') return { number: value }
  if (value === null || value === undefined) return {}
  return { text: typeof value === 'string' ? value : JSON.stringify(value) }
}

type Buckets = NonNullable<DataOf<'/thing/series'>['attrs']>[string]

function* bucketsOf({ kind, thing_id: id, step, attrs = {} }: ExportLine): Generator<ExportRow> {
  for (const [attr, columns] of Object.entries(attrs as Readonly<Record<string, Buckets>>)) {
    const { times, min, max, mean, last, count } = columns
    for (const [at, time] of times.entries()) {
      const numbers = { number: mean?.[at], min: min?.[at], max: max?.[at], last: last?.[at] }
      yield { kind, id, time, attr, step, ...numbers, count: count?.[at] }
    }
  }
}
