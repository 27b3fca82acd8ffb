import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createTables } from './changes.ts'

const TABLES = ['tier_chunks', 'tier_cuts', 'channel_presentations'] as const

/** Makes the tables of tiers and presentations, where the database is one of the baseline. */
export class History1809000000000 implements MigrationInterface {
  readonly name = 'History1809000000000'

  up(runner: QueryRunner): Promise<void> {
    return createTables(runner, TABLES)
  }

  /** The baseline drops every declared table. */
  async down(): Promise<void> {}
}
