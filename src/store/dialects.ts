// Chooses the dialect of a database engine.

import type { Dialect } from './dialect.ts'
import { mysql } from './mysql/dialect.ts'
import { sqlite } from './sqlite/dialect.ts'

/** The dialect of one of TypeORM's data source types. */
export function dialectOf(type: string): Dialect {
  if (type === 'better-sqlite3') return sqlite
  if (type === 'mysql') return mysql
  throw new Error(`there is no dialect for ${type}`)
}
