// Compares the complete writes of a gateway's turns byte by byte, and makes a database that lacks
// only those.

import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import type { Operation } from '#domain/operation'
import { dialectOf } from '#src/store/dialects'
import type { UpdateBlockRow } from '#src/store/entities/feed'
import type { OperationBatchRow } from '#src/store/entities/operations'
import { tablesFor } from '#src/store/entities/tables'
import { updatesIn } from '#src/store/feed/update-blocks'
import { openStore } from '#src/store/store'
import { operationsIn } from '#src/store/turns/operation-batches'
import { FakeMeter } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'

/** Tables that administration or ingress writes. */
const NOT_OF_TURNS = new Set([
  'gateway_meta',
  'lease_holders',
  'log_batches',
  'channels',
  'devices',
  'subscriptions',
  'claims',
  // Its operations stand among those of the table `operations`.
  'operation_batches',
  // Their updates stand under `updates`: where a block ends is a matter of turns.
  'update_blocks',
  'update_places',
])

/**
 * Columns that do not follow from the log: the order of commits among lanes, the epochs and
 * owners, and the moment at which a defect was met.
 */
const NOT_OF_THE_LOG: Readonly<Record<string, readonly string[]>> = {
  feed_entries: ['id'],
  tombstones: ['id'],
  dead_letters: ['id', 'at'],
  lanes: ['epoch', 'owner'],
}

/** Differing rows that are shown of each side. */
const SHOWN = 3

type Row = Readonly<Record<string, unknown>>

/** Each table's rows: every column in hexadecimal digits, sorted. */
export type WrittenState = Readonly<Record<string, readonly string[]>>

interface Table {
  readonly name: string
  readonly columns: readonly string[]
}

function tablesOf(source: DataSource): readonly Table[] {
  const { types } = dialectOf(source.options.type)
  return Object.values(tablesFor(types)).map(({ options: { name, columns } }) => ({
    name,
    columns: Object.entries(columns).map(([property, column]) => column?.name ?? property),
  }))
}

/** Reads everything that turns have written into a database. */
export function writtenState(url: string): Promise<WrittenState> {
  return inDatabase(url, async (source) => {
    const state: Record<string, readonly string[]> = {}
    for (const { name, columns } of tablesOf(source)) {
      if (NOT_OF_TURNS.has(name)) continue
      const compared = columns.filter((column) => !NOT_OF_THE_LOG[name]?.includes(column))
      const texts = compared.map(
        (column) =>
          `CASE WHEN ${column} IS NULL THEN 'NULL' ELSE hex(CAST(${column} AS CHAR)) END AS ${column}`,
      )
      const rows = await rowsOf(source, `SELECT ${texts.join(', ')} FROM ${name}`)
      const lines = rows.map((row) => compared.map((column) => String(row[column])).join(' '))
      state[name] = lines.toSorted()
    }
    const batches = await rowsOf(
      source,
      'SELECT first_op AS firstOp, operations, content FROM operation_batches',
    )
    const ofBatches = (batches as readonly OperationBatchRow[]).flatMap(operationsIn).map(lineOf)
    const blocks = await rowsOf(source, 'SELECT content FROM update_blocks')
    state['updates'] = (blocks as readonly Pick<UpdateBlockRow, 'content'>[])
      .flatMap(({ content }) => updatesIn(content).map((update) => JSON.stringify(update)))
      .toSorted()
    state['operations'] = [...(state['operations'] ?? []), ...ofBatches].toSorted()
    return state
  })
}

/** An operation as the line of a row of its own. */
function lineOf(operation: Operation): string {
  const { opId, channelId, model, entityId, status, acceptedAt, updatedAt } = operation
  const values = [opId, channelId, model, entityId, status, acceptedAt, updatedAt]
  return [...values.map((value) => hexOf(value)), 'NULL'].join(' ')
}

/** The digits of a value's text, as the database gives them. */
const hexOf = (value: string | number): string =>
  Buffer.from(String(value)).toString('hex').toUpperCase()

/** A few rows by table that only one of the two has; empty when equal. */
export function differencesOf(one: WrittenState, other: WrittenState): WrittenState {
  const differences: Record<string, readonly string[]> = {}
  for (const table of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const [left, right] = [one[table] ?? [], other[table] ?? []]
    if (left.join('\n') === right.join('\n')) continue
    const [inLeft, inRight] = [new Set(left), new Set(right)]
    differences[table] = [
      `${left.length} rows and ${right.length}`,
      ...left.filter((row) => !inRight.has(row)).slice(0, SHOWN),
      ...right.filter((row) => !inLeft.has(row)).slice(0, SHOWN),
    ]
  }
  return differences
}

/** The place of each lane. */
export function placesOf(url: string): Promise<ReadonlyMap<number, number>> {
  return inDatabase(url, async (source) => {
    const rows = await rowsOf(source, 'SELECT lane, place FROM lanes')
    return new Map(rows.map(({ lane, place }) => [Number(lane), Number(place)]))
  })
}

/**
 * Makes the tables and copies these from another database. Every channel begins as if it had just
 * been created, under the number that it has there.
 */
export async function makeUnwritten(
  url: string,
  { from, tables }: { readonly from: string; readonly tables: readonly string[] },
): Promise<void> {
  await (await openStore({ runtime: realRuntime, url, meter: new FakeMeter() })).close()
  await inDatabase(from, (origin) =>
    inDatabase(url, async (source) => {
      for (const { name, columns } of tablesOf(source)) {
        if (!tables.includes(name)) continue
        const rows = await rowsOf(origin, `SELECT ${columns.join(', ')} FROM ${name}`)
        for (const row of rows) await insert(source, { name, columns }, row)
      }
      await source.query(
        `INSERT INTO channel_heads (channel, head_seq, things, open_events)
          SELECT id, 0, 0, 0 FROM channels`,
      )
    }),
  )
}

async function insert(source: DataSource, { name, columns }: Table, row: Row): Promise<void> {
  const places = columns.map(() => '?').join(', ')
  await source.query(
    `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${places})`,
    columns.map((column) => row[column]),
  )
}

const rowsOf = async (source: DataSource, sql: string): Promise<readonly Row[]> =>
  (await source.query(sql)) as readonly Row[]

async function inDatabase<Answer>(
  url: string,
  job: (source: DataSource) => Promise<Answer>,
): Promise<Answer> {
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  try {
    return await job(source)
  } finally {
    await source.destroy()
  }
}
