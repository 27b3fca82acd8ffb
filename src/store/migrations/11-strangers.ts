import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createIndex, dropIndex } from './columns.ts'

const INDEXES = [
  {
    name: 'authorization_records_by_kind',
    table: 'authorization_records',
    columns: 'model, expires_at, id_hash',
  },
  { name: 'bindings_by_browser', table: 'bindings', columns: 'browser, client' },
]

/**
 * Adds the order in which records of one kind end, by which those of strangers are bounded, and the
 * bindings of a browser. A node of the version before reads neither.
 */
export class Strangers1801500000000 implements MigrationInterface {
  readonly name = 'Strangers1801500000000'

  async up(runner: QueryRunner): Promise<void> {
    for (const index of INDEXES) await createIndex(runner, index)
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const index of INDEXES.toReversed()) await dropIndex(runner, index)
  }
}
