import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor, isMySql } from './columns.ts'

const TABLES = ['bindings', 'bind_sessions']
const COLUMNS = ['client', 'browser']
const INDEX = 'bind_sessions_by_grant'

/**
 * Adds to bindings and bind sessions the client that has the grant, and the browser in which a
 * person allowed it. Of older bindings neither is known, so each grant counts as a client of its
 * own. A node of the version before writes neither.
 */
export class Assistants1800500000000 implements MigrationInterface {
  readonly name = 'Assistants1800500000000'

  async up(runner: QueryRunner): Promise<void> {
    const { text } = columnsFor(runner)
    for (const table of TABLES) {
      for (const column of COLUMNS) {
        if (await runner.hasColumn(table, column)) continue
        await runner.query(
          `ALTER TABLE ${table} ADD COLUMN ${column} ${text(64)} NOT NULL DEFAULT ''`,
        )
      }
      await runner.query(`UPDATE ${table} SET client = grant_id WHERE client = ''`)
    }
    if (await hasIndex(runner)) return
    await runner.query(`CREATE INDEX ${INDEX} ON bind_sessions (grant_id)`)
  }

  async down(runner: QueryRunner): Promise<void> {
    const on = isMySql(runner) ? ' ON bind_sessions' : ''
    await runner.query(`DROP INDEX ${INDEX}${on}`)
    for (const table of TABLES) {
      for (const column of COLUMNS) {
        await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`)
      }
    }
  }
}

async function hasIndex(runner: QueryRunner): Promise<boolean> {
  const table = await runner.getTable('bind_sessions')
  return table?.indices.some(({ name }) => name === INDEX) ?? false
}
