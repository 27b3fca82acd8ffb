import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createTables, dropTables } from './columns.ts'
import type { ColumnDefinitions, TableDefinition } from './columns.ts'

/** Adds the mappings of channels. A node of the version before reads topics without them. */
export class Mappings1805500000000 implements MigrationInterface {
  readonly name = 'Mappings1805500000000'

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, tables)
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, tables)
  }
}

const tables = ({ integer, document }: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'channel_mappings',
    columns: `channel ${integer} PRIMARY KEY NOT NULL, mappings ${document} NOT NULL,
      unmapped ${document} NOT NULL`,
  },
]
