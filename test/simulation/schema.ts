// The tables of a database, as the migrations make them.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { SqliteConnection } from '#src/store/sqlite/connection'
import { migrateFile } from '#src/store/typeorm'

/** The statements that make the tables of this version. Made once for all databases. */
let schema: Promise<readonly string[]> | undefined

async function makeSchema(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'heliograph-simulation-'))
  try {
    const path = join(folder, 'schema.db')
    await migrateFile(`sqlite:${path}`)
    const connection = new SqliteConnection(path)
    const rows = connection.prepare('SELECT sql, name FROM sqlite_master ORDER BY rowid').all()
    const made = rows.flatMap(({ sql, name }) =>
      typeof sql === 'string' && !String(name).startsWith('sqlite_') ? [sql] : [],
    )
    connection.close()
    return made
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Loads what the databases of all worlds share. */
export const loadSchema = (): Promise<readonly string[]> => (schema ??= makeSchema())
