// Goal: the next version upgrades a database of this one by a step of its own.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'
import type { MigrationInterface, QueryRunner } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { dialectOf } from '#src/store/dialects'
import { migrate } from '#src/store/migrate'
import { addColumn } from '#src/store/migrations/changes'
import { MIGRATIONS } from '#src/store/migrations/migrations'
import { newDatabase, sharedMariaDb } from '#test/support/mariadb'
import { databasePath } from '#test/support/sqlite-store'

const mariaDb = sharedMariaDb()

class Next9000000000000 implements MigrationInterface {
  readonly name = 'Next9000000000000'

  up(runner: QueryRunner): Promise<void> {
    return addColumn(runner, 'lanes', { name: 'next', definition: 'integer NOT NULL DEFAULT 7' })
  }

  down(): Promise<void> {
    return Promise.resolve()
  }
}

async function upgraded(t: ExecutionContext, url: string): Promise<void> {
  const options = dataSourceOptionsFor(url)
  const asVersion = async (migrations: (typeof MIGRATIONS | typeof Next9000000000000)[]) => {
    const source = await new DataSource({ ...options, migrations: migrations.flat() }).initialize()
    try {
      return await migrate(source, dialectOf(options.type))
    } finally {
      await source.destroy()
    }
  }
  t.is(await asVersion([MIGRATIONS]), MIGRATIONS.length)
  const source = await new DataSource(options).initialize()
  t.teardown(() => source.destroy())
  await source.query('INSERT INTO lanes (lane, epoch, place) VALUES (1, 2, 3)')
  t.is(await asVersion([MIGRATIONS, Next9000000000000]), 1)
  t.is(await asVersion([MIGRATIONS, Next9000000000000]), 0)
  const rows: { readonly next: number }[] = await source.query('SELECT next FROM lanes')
  t.deepEqual(
    rows.map(({ next }) => next),
    [7],
  )
  await t.throwsAsync(asVersion([MIGRATIONS]), { code: 'newer_database' })
}

const TITLE = 'migrate/3: the next version adds its step once, and this one is then refused'
test(`sqlite: ${TITLE}`, async (t) => {
  await upgraded(t, `sqlite:${await databasePath(t)}`)
})
mariaDb.test(`mysql: ${TITLE}`, async (t, server) => {
  await upgraded(t, await newDatabase(server))
})
