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
 * How a job is kept. `read`: each statement sees a state of its own. `snapshot`: all of them see
 * one. `repeatable`: a power cut may take the newest of them back, together with everything after;
 * whoever wrote does it again. `durable`: on the disk when it ends.
 */
export type TransactionKind = 'read' | 'snapshot' | 'repeatable' | 'durable'

/** Column types as the entities declare them. Text compares byte for byte. */
export interface ColumnTypes {
  readonly serial: EntitySchemaColumnOptions
  /** Whole numbers of 53 bits. */
  readonly integer: EntitySchemaColumnOptions
  readonly text: (length: number) => EntitySchemaColumnOptions
  /** Text of any length. */
  readonly document: EntitySchemaColumnOptions
  /** False: an index of long text holds only its beginning, which TypeORM has no word for. */
  readonly indexesLongText: boolean
  /** True: the updates of Things are indexed in spans. (spans.ts) */
  readonly hasSpans: boolean
  /** True: Things and Events are indexed in blocks of seqs. (blocks.ts) */
  readonly hasBlocks: boolean
}

/**
 * What became of a job that failed. `unfit`: the database finds fault with the data, so the same
 * again would fail again. `refused`: it cannot or may not do it, for instance with a full disk.
 * `taken-back`: it gave the job up in favour of another transaction. `lost`: the connection broke.
 * `silent`: no answer came in time.
 */
export type Failure = 'unfit' | 'refused' | 'taken-back' | 'lost' | 'silent'

/** A driver's error in words that may stand in a log. */
export interface Description {
  readonly code: string
  readonly sentence: string
}

export interface Dialect {
  readonly engine: 'sqlite' | 'mysql'
  /** What a durable transaction rests on, in words for the operator. */
  readonly durability: string
  /** Jobs at once. */
  readonly connections: number
  readonly types: ColumnTypes
  /** The updates of Things are indexed in spans of two to this many rows; absent: in one. */
  readonly spanBits?: number
  /** Things and Events are indexed in blocks of this many seqs; absent: by each. (blocks.ts) */
  readonly seqBlock?: number
  /** What a new connection is told first. */
  readonly setup: readonly string[]
  readonly begin: Readonly<Record<TransactionKind, readonly string[]>>
  /** What the connection is told once a transaction has ended. */
  readonly afterwards: Readonly<Record<TransactionKind, readonly string[]>>
  /**
   * Locks the rows that a SELECT finds, where a transaction does not have the database for itself.
   */
  readonly forUpdate: string
  /** The same, and leaves out rows that others have locked. */
  readonly forUpdateOfFree: string
  /**
   * Behind a table whose rows are locked: they are found by their primary key, however few rows
   * the table has. MySQL would read a small one whole, and wait for rows that others have locked.
   */
  readonly byPrimaryKey: string
  /**
   * Behind SELECT: tables are joined in the order in which they stand, as CROSS JOIN does in
   * SQLite.
   */
  readonly inOrder: string
  /**
   * The beginning of an INSERT of many rows. What it wrote before it fails may stay: the whole job
   * is rolled back.
   */
  readonly insertInto: string
  /** Rows of one INSERT, at most; a power of two. */
  readonly rowsMax: number
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
  readonly keys: (alias: string, columns: Readonly<Record<string, 'text' | 'integer'>>) => string
  /**
   * An UPDATE of the rows of `table` that match those of a table of keys, called `k` in `on` and
   * `set`. Parameters: of the keys, then of `where`.
   */
  readonly updateFrom: (update: {
    readonly table: string
    readonly keys: string
    readonly on: string
    readonly set: string
    readonly where: string
  }) => string
  /** The first of the ids given to the rows of one INSERT, which follow one another. */
  readonly firstId: (raw: unknown, rows: number) => number
  /**
   * A driver's error without anything that was a parameter; undefined when it is not the driver's.
   */
  readonly describe: (error: unknown) => Description | undefined
  readonly failureOf: (error: unknown) => Failure
  /** True when another transaction wrote the same key first, after this one had found it free. */
  readonly isOvertaken: (error: unknown) => boolean
}
