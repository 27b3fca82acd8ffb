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

/** A statement that writes rows. */
export interface RowsStatement {
  readonly sql: string
  readonly rows: number
  /** Those of each row behind those of the one before. */
  readonly values: readonly Value[]
  /** Changed rows without which nothing that comes behind this statement is wanted. */
  readonly mustChange?: number
}

/** What a statement that writes rows may be. */
export interface StatementLimits {
  readonly rowsMax: number
  /** How many may be sent and not answered. */
  readonly underWayMax: number
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
  readonly limits: StatementLimits
  /**
   * Makes a statement whose text is one of few: where it pays, the server keeps it prepared. What
   * is given sends it; call that once, in the order in which they were made.
   */
  make(statement: RowsStatement): Send
}

/** Sends a statement that is made. */
export type Send = () => Promise<Changes>

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

  get limits(): StatementLimits {
    return { rowsMax: this.dialect.rowsMax, underWayMax: 1 }
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

  make({ sql, values }: RowsStatement): Send {
    return () => this.run(sql, values)
  }
}
