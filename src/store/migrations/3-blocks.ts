import type { MigrationInterface, QueryRunner } from 'typeorm'

import { isMySql } from './columns.ts'

const TABLES = ['things', 'events']

/**
 * Cuts the index of Things and Events by their last change into blocks in MySQL. (blocks.ts) The
 * server computes the block, so nodes of the version before can go on writing.
 */
export class Blocks1795200000000 implements MigrationInterface {
  readonly name = 'Blocks1795200000000'

  async up(runner: QueryRunner): Promise<void> {
    if (!isMySql(runner)) return
    for (const table of TABLES) {
      if (await runner.hasColumn(table, 'seq_block')) continue
      await runner.query(
        `ALTER TABLE ${table} ADD COLUMN seq_block bigint AS (seq DIV 128) STORED,
          ADD KEY ${table}_by_block (channel, seq_block), DROP KEY ${table}_by_seq`,
      )
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    if (!isMySql(runner)) return
    for (const table of TABLES) {
      if (!(await runner.hasColumn(table, 'seq_block'))) continue
      await runner.query(
        `ALTER TABLE ${table} DROP KEY ${table}_by_block, DROP COLUMN seq_block,
          ADD KEY ${table}_by_seq (channel, seq)`,
      )
    }
  }
}
