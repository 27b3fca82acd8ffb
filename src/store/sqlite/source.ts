// A SQLite file whose tables are up to date, without TypeORM: a thread that works with it would
// keep 9 MB of a library that it uses for migrations only.

import { existsSync } from 'node:fs'

import { keepNewest } from '#domain/bounds/newest'
import { MIGRATIONS } from '#src/store/migrations/migrations'
import type { Runner, RunnerResult, Source } from '#src/store/jobs/executor'
import { IN_MEMORY, SqliteConnection } from './connection.ts'
import type { SqliteStatement, Values } from './connection.ts'
import { makeFolderOf } from './private-files.ts'

/**
 * Statement texts that stay prepared: some twenty tables in ten sizes at most, and the statements
 * that are not bulk.
 */
export const STATEMENTS_KEPT = 500
/** Pages of the database that stay in memory. */
const CACHE_BYTES = 16 * 2 ** 20
/**
 * Pages of WAL before they move into the database file: 16 MiB. Four times as many had no
 * measurable gain, and each move then delayed a turn by 100 ms.
 */
const CHECKPOINT_PAGES = 4_096
const WAL_BYTES_KEPT = 64 * 2 ** 20

const SQLITE = 'sqlite:'

/** The path of `sqlite:<path>`; undefined for another address, and for a database in memory. */
export function sqliteFileOf(url: string): string | undefined {
  if (!url.startsWith(SQLITE)) return undefined
  const path = url.slice(SQLITE.length)
  return path === '' || path === IN_MEMORY ? undefined : path
}

/** Sets a connection up for the work of a gateway. */
export function setUp(connection: SqliteConnection, cacheBytes = CACHE_BYTES): void {
  connection.pragma(`cache_size = -${cacheBytes / 1_024}`)
  connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  connection.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`)
  connection.pragma('journal_mode = WAL')
}

/**
 * True when exactly the migrations of this version have run in a file. A missing file, or one that
 * cannot be read, is not up to date: its migration then gives the error.
 */
export function isUpToDate(path: string): boolean {
  if (!existsSync(path)) return false
  const connection = new SqliteConnection(path)
  try {
    const rows = connection.prepare('SELECT name FROM migrations').all()
    const known = new Set<string>(MIGRATIONS.map((Migration) => new Migration().name))
    return rows.length === known.size && rows.every(({ name }) => known.has(String(name)))
  } catch {
    return false // There is no such table, or it is no database.
  } finally {
    connection.close()
  }
}

/** The one connection of a database file, as jobs use it. */
export class SqliteSource implements Source {
  readonly #connection: SqliteConnection
  readonly #runner: SqliteRunner

  /**
   * Opens or makes a file; its folder is made. `cacheBytes`: pages that stay in memory. Throws
   * SqliteError.
   */
  constructor(path: string, cacheBytes?: number) {
    makeFolderOf(path)
    this.#connection = new SqliteConnection(path)
    this.#runner = new SqliteRunner(this.#connection)
    try {
      setUp(this.#connection, cacheBytes)
    } catch (error) {
      this.#connection.close()
      throw error
    }
  }

  createQueryRunner(): Runner {
    return this.#runner
  }

  destroy(): Promise<void> {
    this.#connection.close()
    return Promise.resolve()
  }
}

class SqliteRunner implements Runner {
  readonly #connection: SqliteConnection
  readonly #statements = new Map<string, SqliteStatement>()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  connect(): Promise<unknown> {
    return Promise.resolve(this.#connection)
  }

  query(sql: string, parameters: unknown[], isStructured: true): Promise<RunnerResult>
  query(sql: string, parameters?: unknown[]): Promise<unknown>
  async query(sql: string, parameters: unknown[] = [], isStructured = false): Promise<unknown> {
    const statement = this.#prepared(sql)
    const values = parameters as unknown as Values // Dialect.bind made them.
    if (statement.reader) {
      const rows = statement.all(...values)
      return isStructured ? { raw: rows } : rows
    }
    const { changes, lastInsertRowid } = statement.run(...values)
    return isStructured ? { affected: changes, raw: lastInsertRowid } : lastInsertRowid
  }

  release(): Promise<void> {
    return Promise.resolve()
  }

  /** Drops the oldest text beyond the bound. */
  #prepared(sql: string): SqliteStatement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#connection.prepare(sql)
    this.#statements.set(sql, statement)
    keepNewest(this.#statements, STATEMENTS_KEPT)
    return statement
  }
}
