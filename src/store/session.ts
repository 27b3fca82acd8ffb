// The connection as a job has it, for as long as the job runs.

import type { QueryRunner } from 'typeorm'

import type { Dialect, Value } from './dialect.ts'
import { StoreError } from './store-error.ts'

/** What a statement that gives no rows did. */
export interface Changes {
  readonly affected: number
  /** What the driver tells about generated ids; for Dialect.firstId. */
  readonly raw: unknown
}

/** An INSERT of rows into one table. */
export interface Insert {
  /** Its text for this many rows. */
  readonly sqlFor: (rows: number) => string
  readonly rows: number
  /** Those of each row behind those of the one before. */
  readonly values: readonly Value[]
}

/** How many rows one INSERT may have. */
export interface InsertSizes {
  readonly most: number
  /** Each size is a text of its own, and there must be few of them. */
  readonly arePowersOfTwo: boolean
}

/**
 * Statements are text with parameters and not TypeORM's query builder: that one writes numbers into
 * the text, so each statement would be a new one and drive those of the hot path out of the
 * driver's prepared ones.
 */
export interface Session {
  readonly dialect: Dialect
  /** The rows of a SELECT. Their shape is what the statement says; nobody checks it again. */
  all<Row>(sql: string, parameters?: readonly Value[]): Promise<Row[]>
  first<Row>(sql: string, parameters?: readonly Value[]): Promise<Row | undefined>
  run(sql: string, parameters?: readonly Value[]): Promise<Changes>
  readonly insertSizes: InsertSizes
  /**
   * Makes an INSERT whose text is one of few: where it pays, the server keeps it prepared. What is
   * given runs it; call that once, and have no more than one that is made and not yet run.
   */
  insert(insert: Insert): Insertion
}

/** Runs a statement that is made. */
export type Insertion = () => Promise<Changes>

/** Bounds how long an answer may take. */
export type Bounded = <Answer>(answer: Promise<Answer>) => Promise<Answer>

export class RunnerSession implements Session {
  readonly dialect: Dialect
  readonly #runner: QueryRunner
  readonly #bounded: Bounded

  constructor(runner: QueryRunner, dialect: Dialect, bounded: Bounded) {
    this.#runner = runner
    this.dialect = dialect
    this.#bounded = bounded
  }

  get insertSizes(): InsertSizes {
    return { most: this.dialect.rowsMax, arePowersOfTwo: true }
  }

  async all<Row>(sql: string, parameters: readonly Value[] = []): Promise<Row[]> {
    const answer = this.#runner.query(sql, this.dialect.bind(parameters))
    const rows: unknown = await this.#bounded(answer)
    if (!Array.isArray(rows)) throw new StoreError('no_rows', 'the statement gave no rows')
    return rows as Row[]
  }

  async first<Row>(sql: string, parameters: readonly Value[] = []): Promise<Row | undefined> {
    const [row] = await this.all<Row>(sql, parameters)
    return row
  }

  async run(sql: string, parameters: readonly Value[] = []): Promise<Changes> {
    const answer = this.#runner.query(sql, this.dialect.bind(parameters), true)
    const result = await this.#bounded(answer)
    return { affected: result.affected ?? 0, raw: result.raw }
  }

  insert({ sqlFor, rows, values }: Insert): Insertion {
    return () => this.run(sqlFor(rows), values)
  }
}
