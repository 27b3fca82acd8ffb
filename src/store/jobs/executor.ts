// Runs the statements of a job on its connection, for as long as the job runs.

import type { Dialect, Value } from '#src/store/dialect'
import { StoreError } from '#src/store/store-error'

/** The effect of a statement that gives no rows. */
export interface Changes {
  readonly affected: number
  /** The driver's answer, from which Dialect.firstId reads generated ids. */
  readonly raw: unknown
}

/** A statement that writes rows. */
export interface RowsStatement {
  readonly sql: string
  readonly rows: number
  /** The values of all rows, row after row. */
  readonly values: readonly Value[]
  /** Rows that it must change; otherwise nothing behind it may take effect. */
  readonly mustChange?: number
}

/** The limits of statements that write rows. */
export interface StatementLimits {
  readonly rowsMax: number
  /** Statements that may be sent and not answered yet. */
  readonly underWayMax: number
}

/** Opens runners of statements: a DataSource of TypeORM, or SQLite alone (sqlite/source.ts). */
export interface Source {
  createQueryRunner(): Runner
  destroy(): Promise<void>
}

/** A way to open a database and bring its tables up to date. */
export interface Opener {
  readonly dialect: Dialect
  readonly open: () => Promise<Opened>
}

export interface Opened {
  readonly source: Source
  /** The number of migrations that ran. */
  readonly migrations: number
}

/** Runs statements on a connection. */
export interface Runner {
  /** Takes a connection, and gives it as the driver has it. */
  connect(): Promise<unknown>
  query(sql: string, parameters: unknown[], isStructured: true): Promise<RunnerResult>
  /** Returns the rows of a SELECT. */
  query(sql: string, parameters?: unknown[]): Promise<unknown>
  release(): Promise<void>
}

export interface RunnerResult {
  readonly raw: unknown
  readonly affected?: number | undefined
}

/** Reads rows, each statement in a job of its own or all of them in one. */
export interface Reader {
  readonly dialect: Dialect
  /** Returns the rows of a SELECT. The statement decides their shape; nothing checks it again. */
  all<Row>(sql: string, parameters?: readonly Value[]): Promise<readonly Row[]>
}

/**
 * Statements are text with parameters and not TypeORM's query builder: the builder writes numbers
 * into the text, so each statement would be a new one and push the statements of the hot path out
 * of the driver's prepared ones.
 */
export interface Executor extends Reader {
  all<Row>(sql: string, parameters?: readonly Value[]): Promise<Row[]>
  first<Row>(sql: string, parameters?: readonly Value[]): Promise<Row | undefined>
  run(sql: string, parameters?: readonly Value[]): Promise<Changes>
  readonly limits: StatementLimits
  /**
   * Makes a statement with one of a few texts: where it pays, the server keeps it prepared. The
   * given function sends it; call each once, in the order in which they were made.
   */
  make(statement: RowsStatement): Send
}

/** Sends a statement that was made. */
export type Send = () => Promise<Changes>

/** Bounds the time of an answer. */
export type Bounded = <Answer>(answer: Promise<Answer>) => Promise<Answer>

export class RunnerExecutor implements Executor {
  readonly dialect: Dialect
  readonly #runner: Runner
  readonly #bounded: Bounded

  constructor(runner: Runner, dialect: Dialect, bounded: Bounded) {
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
