// What differs between database engines, behind one value. Everything else in this folder is
// written once.

import type { EntitySchemaColumnOptions } from 'typeorm'

/** What a statement's parameter may be. */
export type Value = string | number | null

/** What the database adds to a row of a table with a generated id. */
export interface Numbered {
  readonly id: number
}

/**
 * How a transaction is kept. `read`: one snapshot. `repeatable`: a power cut may take the newest of
 * them back, together with everything after; whoever wrote does it again. `durable`: on the disk
 * when it ends.
 */
export type TransactionKind = 'read' | 'repeatable' | 'durable'

/** Column types as the entities declare them. Text compares byte for byte. */
export interface ColumnTypes {
  readonly serial: EntitySchemaColumnOptions
  /** Whole numbers of 53 bits. */
  readonly integer: EntitySchemaColumnOptions
  readonly text: (length: number) => EntitySchemaColumnOptions
  /** Text of any length. */
  readonly document: EntitySchemaColumnOptions
}

/** The same types as the migrations spell them. */
export interface ColumnDefinitions {
  /** The whole column `id`. */
  readonly serial: string
  readonly integer: string
  readonly text: (length: number) => string
  readonly document: string
  /** Behind the closing bracket of a table whose rows lie in the order of their primary key. */
  readonly clustered: string
}

export interface Dialect {
  readonly engine: 'sqlite'
  /** What a durable transaction rests on, in words for the operator. */
  readonly durability: string
  readonly types: ColumnTypes
  readonly definitions: ColumnDefinitions
  readonly begin: Readonly<Record<TransactionKind, readonly string[]>>
  /**
   * Locks the rows that a SELECT finds, where a transaction does not have the database for itself.
   */
  readonly forUpdate: string
  /** Parameters in the form that the driver binds rightly. */
  readonly bind: (parameters: readonly Value[]) => unknown[]
  /**
   * The end of an INSERT for rows whose key exists: these columns take the new value, the row stays
   * as it is when there are none. `unlessNull`: a new value that is null leaves the old one.
   */
  readonly onDuplicate: (
    key: readonly string[],
    replaced: readonly string[],
    unlessNull?: readonly string[],
  ) => string
  /** A table made of one parameter: a JSON array of arrays, whose items are the named columns. */
  readonly keys: (alias: string, columns: readonly string[]) => string
  /** The first of the ids given to the rows of one INSERT, which follow one another. */
  readonly firstId: (raw: unknown, rows: number) => number
  /**
   * A driver's error without anything that was a parameter; undefined when it is not the driver's.
   */
  readonly describe: (
    error: unknown,
  ) => { readonly code: string; readonly sentence: string } | undefined
}

/**
 * SQLite in WAL mode over one connection.
 *
 * D1. `synchronous` is FULL for durable transactions and NORMAL for repeatable ones: those reach
 *     the WAL file without an fsync. A WAL is read back in order up to the first frame that is
 *     damaged, so what is durable makes everything before it durable, and a power cut takes only
 *     the newest turns, whose batches still stand in the log behind the lane's place.
 * D2. The gate (database.ts) gives the one connection to one job at a time, so a job that only
 *     reads sees one snapshot without a transaction.
 */
const sqlite: Dialect = {
  engine: 'sqlite',
  durability: 'sqlite, fsync before each acceptance',
  types: {
    serial: { type: 'integer', primary: true, generated: 'increment' },
    integer: { type: 'integer' },
    text: (length) => ({ type: 'varchar', length }),
    document: { type: 'text' },
  },
  definitions: {
    serial: '"id" integer PRIMARY KEY AUTOINCREMENT NOT NULL',
    integer: 'integer',
    text: (length) => `varchar(${length})`,
    document: 'text',
    clustered: ' WITHOUT ROWID',
  },
  begin: {
    read: [], // D2
    repeatable: ['PRAGMA synchronous = NORMAL', 'BEGIN IMMEDIATE'],
    durable: ['PRAGMA synchronous = FULL', 'BEGIN IMMEDIATE'], // D1
  },
  forUpdate: '',
  // One array: libsql takes a lone null or object among spread parameters for named parameters.
  bind: (parameters) => [parameters],
  onDuplicate: (key, replaced, unlessNull = []) => {
    const setters = [
      ...replaced.map((name) => `${name} = excluded.${name}`),
      ...unlessNull.map((name) => `${name} = coalesce(excluded.${name}, ${name})`),
    ]
    const action = setters.length === 0 ? 'NOTHING' : `UPDATE SET ${setters.join(', ')}`
    return `ON CONFLICT (${key.join(', ')}) DO ${action}`
  },
  keys: (alias, columns) => {
    const items = columns.map((name, index) => `value ->> ${index} AS ${name}`)
    return `(SELECT ${items.join(', ')} FROM json_each(?)) ${alias}`
  },
  firstId: (raw, rows) => Number(raw) - rows + 1,
  // SQLite names tables, columns and constraints in its messages, the system files; neither values.
  describe: (error) => {
    if (!(error instanceof Error) || !('code' in error)) return undefined
    const { code, message } = error
    if (message.startsWith('ConnectionFailed('))
      return { code: 'SQLITE_CANTOPEN', sentence: message }
    const isKnown = typeof code === 'string' && /^(SQLITE_\w+|E[A-Z]+)$/.test(code)
    return isKnown ? { code, sentence: message } : undefined
  },
}

/** The dialect of one of TypeORM's data source types. */
export function dialectOf(type: string): Dialect {
  if (type !== 'better-sqlite3') throw new Error(`there is no dialect for ${type}`)
  return sqlite
}
