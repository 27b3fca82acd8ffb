import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor, createIndex, dropIndex } from './columns.ts'

const TABLES = ['bindings', 'bind_sessions']
const COLUMNS = ['client', 'browser']
const INDEX = { name: 'bind_sessions_by_grant', table: 'bind_sessions', columns: 'grant_id' }

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
    await createIndex(runner, INDEX)
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropIndex(runner, INDEX)
    for (const table of TABLES) {
      for (const column of COLUMNS) {
        await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`)
      }
    }
  }
}
