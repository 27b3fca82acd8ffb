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
  /**
   * Makes an INSERT whose text is one of few: where it pays, the server keeps it prepared. What is
   * given runs it; call that once, and have no more than one that is made and not yet run.
   */
  insert(sql: string, parameters: readonly Value[]): Insertion
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

  insert(sql: string, parameters: readonly Value[]): Insertion {
    return () => this.run(sql, parameters)
  }
}
