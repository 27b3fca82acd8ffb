// Changes of tables. Each finds out whether it is done already. (migrate/2)

import type { QueryRunner } from 'typeorm'

import { dialectOf } from '#src/store/dialects'
import { tablesFor } from '#src/store/entities/tables'
import type { Table } from '#src/store/entities/table'

/** True for MySQL and MariaDB, false for SQLite. */
export const isMySql = ({ dataSource }: QueryRunner): boolean => dataSource.options.type === 'mysql'

/** The name of the type of whole numbers. */
export const integerOf = (runner: QueryRunner): string => (isMySql(runner) ? 'bigint' : 'integer')

const declaredFor = ({ dataSource }: QueryRunner): readonly Table<unknown>[] =>
  Object.values(tablesFor(dialectOf(dataSource.options.type).types))

/** Creates the declared tables that are not there, or only those of these names. */
export async function createTables(runner: QueryRunner, names?: readonly string[]): Promise<void> {
  const { Table: Described } = await import('typeorm')
  for (const { options, added } of declaredFor(runner)) {
    const { name } = options
    if (names !== undefined && !names.includes(name)) continue
    const metadata = runner.dataSource.getMetadata(name)
    await runner.createTable(Described.create(metadata, runner.dataSource.driver), true)
    if (added === undefined || (await hasIndex(runner, name, added.name))) continue
    await runner.query(`ALTER TABLE ${name} ${added.clauses}`)
  }
}

/** Drops every declared table. */
export async function dropTables(runner: QueryRunner): Promise<void> {
  for (const { options } of declaredFor(runner)) await runner.query(`DROP TABLE ${options.name}`)
}

/** `definition`: the type of the column and what follows it. */
export async function addColumn(
  runner: QueryRunner,
  table: string,
  { name, definition }: { readonly name: string; readonly definition: string },
): Promise<void> {
  if (await runner.hasColumn(table, name)) return
  await runner.query(`ALTER TABLE ${table} ADD COLUMN ${name} ${definition}`)
}

export async function dropColumn(runner: QueryRunner, table: string, name: string): Promise<void> {
  if (await runner.hasColumn(table, name)) {
    await runner.query(`ALTER TABLE ${table} DROP COLUMN ${name}`)
  }
}

/** `columns`: their names with commas between. */
export async function createIndex(
  runner: QueryRunner,
  table: string,
  { name, columns }: { readonly name: string; readonly columns: string },
): Promise<void> {
  if (await hasIndex(runner, table, name)) return
  await runner.query(`CREATE INDEX ${name} ON ${table} (${columns})`)
}

/** The driver's own description of a table would read the whole catalogue of a MySQL server. */
async function hasIndex(runner: QueryRunner, table: string, name: string): Promise<boolean> {
  const rows: unknown = isMySql(runner)
    ? await runner.query(`SHOW INDEX FROM ${table} WHERE Key_name = ?`, [name])
    : await runner.query("SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", [name])
  return Array.isArray(rows) && rows.length > 0
}

/** Runs a job in a transaction of its own; in SQLite the whole take-over is one. (take-over/1) */
export async function inTransaction(runner: QueryRunner, job: () => Promise<void>): Promise<void> {
  if (isMySql(runner)) await runner.query('START TRANSACTION')
  await job()
  if (isMySql(runner)) await runner.query('COMMIT')
}
