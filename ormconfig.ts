// From SERVICE_DATABASE_URL to TypeORM's options: the one place that names drivers.

import Driver from 'libsql'
import type { DataSourceOptions } from 'typeorm'

import { dialectOf } from '#src/store/dialect'
import { tablesFor } from '#src/store/entities/tables'
import { Tables1766000000000 } from '#src/store/migrations/1-tables'

const SQLITE = 'sqlite:'
const MIGRATIONS = [Tables1766000000000]

/**
 * Statement texts that stay prepared: some twenty tables in eight sizes, and what is not written in
 * bulk.
 */
const STATEMENTS_KEPT = 500
const CACHE_KIB = 65_536
/** Pages of WAL before they move into the database file: 16 MiB. */
const CHECKPOINT_PAGES = 4_096
const WAL_BYTES_KEPT = 64 * 2 ** 20

/** `sqlite:<path>` or `sqlite::memory:`. Throws with a sentence for the operator. */
export function dataSourceOptionsFor(url: string): DataSourceOptions {
  const path = url.startsWith(SQLITE) ? url.slice(SQLITE.length) : ''
  if (path === '') throw new Error('the database address must be sqlite:<path of a file>')
  const type = 'better-sqlite3'
  return {
    type,
    driver: Driver,
    database: path,
    enableWAL: true,
    statementCacheSize: STATEMENTS_KEPT,
    prepareDatabase: (connection: Driver.Database) => {
      connection.pragma(`cache_size = -${CACHE_KIB}`)
      connection.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
      connection.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`)
    },
    entities: Object.values(tablesFor(dialectOf(type).types)),
    migrations: MIGRATIONS,
    // Statements are logged with their parameters, and those are secrets and content.
    logging: false,
  }
}
