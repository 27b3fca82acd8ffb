import type { MigrationInterface, QueryRunner } from 'typeorm'

import { isMySql } from './columns.ts'

/** Cuts the index of Thing updates into spans in SQLite. (spans.ts) */
export class Spans1795000000000 implements MigrationInterface {
  readonly name = 'Spans1795000000000'

  async up(runner: QueryRunner): Promise<void> {
    await this.#replace(runner, 'thing_updates_by_seq', 'thing_updates_by_span')
  }

  async down(runner: QueryRunner): Promise<void> {
    await this.#replace(runner, 'thing_updates_by_span', 'thing_updates_by_seq')
  }

  async #replace(runner: QueryRunner, before: string, after: string): Promise<void> {
    if (isMySql(runner)) return
    const span = after.endsWith('_by_span') ? 'id >> 15, ' : ''
    await runner.query(`DROP INDEX ${before}`)
    await runner.query(`CREATE UNIQUE INDEX ${after} ON thing_updates (${span}channel, seq)`)
  }
}
