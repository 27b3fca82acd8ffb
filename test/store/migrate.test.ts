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
import { schemaOf } from '#test/support/database-rows'
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

/** What the second step makes. */
const HISTORY = ['tier_chunks', 'tier_cuts', 'channel_presentations']

async function givenHistory(t: ExecutionContext, url: string): Promise<void> {
  const options = dataSourceOptionsFor(url)
  const source = await new DataSource(options).initialize()
  t.teardown(() => source.destroy())
  const dialect = dialectOf(options.type)
  await migrate(source, dialect)
  const made = await schemaOf(source)
  await source.query('INSERT INTO lanes (lane, epoch, place) VALUES (1, 2, 3)')
  for (const table of HISTORY) await source.query(`DROP TABLE ${table}`)
  await source.query("DELETE FROM migrations WHERE name = 'History1809000000000'")
  t.is(await migrate(source, dialect), 1)
  t.deepEqual(await schemaOf(source), made)
  t.is(await migrate(source, dialect), 0)
  const rows: { readonly place: number }[] = await source.query('SELECT place FROM lanes')
  t.is(Number(rows[0]?.place), 3)
}

const HISTORY_TITLE = 'a database of the baseline gets the tables of tiers and presentations, once'
test(`sqlite: ${HISTORY_TITLE}`, async (t) => {
  await givenHistory(t, `sqlite:${await databasePath(t)}`)
})
mariaDb.test(`mysql: ${HISTORY_TITLE}`, async (t, server) => {
  await givenHistory(t, await newDatabase(server))
})
