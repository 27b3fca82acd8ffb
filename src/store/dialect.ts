// The differences between database engines, behind one value. Everything else in this folder is
// written once.

import type { Column, SerialColumn } from './entities/table.ts'

/** The values that a statement takes as parameters. */
export type Value = string | number | null | Uint8Array

/** The id that the database adds to a row of a table with generated ids. */
export interface Numbered {
  readonly id: number
}

/**
 * The kind of a job's transaction. `read`: each statement sees a state of its own. `snapshot`: all
 * statements see one state. `repeatable`: a power cut may undo the newest of them, together with
 * everything after; their writer repeats them. `durable`: on the disk when it ends.
 */
export type TransactionKind = 'read' | 'snapshot' | 'repeatable' | 'durable'

/** Column types as the entities declare them. Text compares byte for byte. */
export interface ColumnTypes {
  readonly serial: SerialColumn
  /** Whole numbers of 53 bits. */
  readonly integer: Column<number>
  readonly text: <Text extends string = string>(length: number) => Column<Text>
  /** Text of any length. */
  readonly document: Column<string>
  /** Bytes of any length. */
  readonly bytes: Column<Uint8Array>
  /** Characters of a long text that an index holds; absent when it holds the whole text. */
  readonly indexedCharacters?: number
  /** Seqs of Things and Events that share a number of the index. (last-changes.ts) */
  readonly seqsShared?: number
}

/**
 * The failure of a job. `unfit`: the data is at fault, so a repeat would fail again. `refused`: the
 * database cannot or may not do it, for instance with a full disk. `taken-back`: it rolled the job
 * back in favour of another transaction. `lost`: the connection broke. `silent`: no answer came in
 * time.
 */
export type Failure = 'unfit' | 'refused' | 'taken-back' | 'lost' | 'silent'

/** A driver's error in words that are safe to log. */
export interface Description {
  readonly code: string
  readonly sentence: string
}

export interface Dialect {
  readonly engine: 'sqlite' | 'mysql'
  /** The ground of a durable transaction's safety, in words for the operator. */
  readonly durability: string
  /** Jobs that run at once. */
  readonly connections: number
  readonly types: ColumnTypes
  /** The logarithm of the updates in a span of places; absent when there is one span. */
  readonly spanBits?: number
  /** Statements that a new connection runs first. */
  readonly setup: readonly string[]
  readonly begin: Readonly<Record<TransactionKind, readonly string[]>>
  /** The kind of a transaction of one statement. */
  readonly single: TransactionKind
  /** Statements that the connection runs after a transaction. */
  readonly afterwards: Readonly<Record<TransactionKind, readonly string[]>>
  /** Milliseconds since the epoch by the database's clock, as an expression. */
  readonly nowMs: string
  /** Locks the rows that a SELECT finds, if a transaction does not have the database for itself. */
  readonly forUpdate: string
  /** The same, without rows that other transactions have locked. */
  readonly forUpdateOfFree: string
  /**
   * Stands behind a table: the database finds its rows by an index, `PRIMARY` for the primary key,
   * however few rows the table has or the statement wants. MySQL would read a small table whole,
   * and wait for rows that other transactions have locked; or read a large one in the order of its
   * key until it has found the first row of many.
   */
  readonly byIndex: (name: string) => string
  /**
   * Stands behind SELECT: the database joins tables in the written order, as CROSS JOIN does in
   * SQLite.
   */
  readonly inOrder: string
  /**
   * The beginning of an INSERT of many rows. A failed one may leave rows behind: the whole job is
   * rolled back anyway.
   */
  readonly insertInto: string
  /** Rows of one INSERT at most; a power of two. */
  readonly rowsMax: number
  /** Converts parameters to the form that the driver binds rightly. */
  readonly bind: (parameters: readonly Value[]) => unknown[]
  /**
   * The end of an INSERT for rows whose key exists: these columns take the new value; without
   * columns the row stays as it is. `unlessNull`: a null leaves the old value.
   */
  readonly onDuplicate: (
    key: readonly string[],
    replaced: readonly string[],
    unlessNull?: readonly string[],
  ) => string
  /** A table made from one parameter: a JSON array of arrays, whose items are the named columns. */
  readonly keys: (alias: string, columns: Readonly<Record<string, 'text' | 'integer'>>) => string
  /**
   * The values of a column in all rows as the text of a JSON array, in any order; null or an empty
   * array without rows.
   */
  readonly listOf: (column: string) => string
  /**
   * An UPDATE of the rows of `table` that match those of a table of keys, called `k` in `on` and
   * `set`. Parameters: those of the keys, then those of `where`.
   */
  readonly updateFrom: (update: {
    readonly table: string
    readonly keys: string
    readonly on: string
    readonly set: string
    readonly where: string
  }) => string
  /** The first of the consecutive ids that the rows of one INSERT got. */
  readonly firstId: (raw: unknown, rows: number) => number
  /**
   * Describes a driver's error without any parameter; undefined for an error that is not the
   * driver's.
   */
  readonly describe: (error: unknown) => Description | undefined
  readonly failureOf: (error: unknown) => Failure
  /** True when another transaction wrote the same key first, after this one had found it free. */
  readonly isOvertaken: (error: unknown) => boolean
}
