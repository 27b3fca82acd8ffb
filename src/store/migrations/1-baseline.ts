import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createTables, dropTables } from './changes.ts'
import { isFormerStep, recordedSteps, takeOver } from './take-over.ts'

/** Makes every table, or takes those of the version before 1.0 over. */
export class Baseline1808000000000 implements MigrationInterface {
  readonly name = 'Baseline1808000000000'

  async up(runner: QueryRunner): Promise<void> {
    if ((await recordedSteps(runner)).some(isFormerStep)) await takeOver(runner)
    await createTables(runner)
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTables(runner)
  }
}
