// Spells the columns and tables of migrations for each engine.
//
// Frozen: today's version and a later one must make the same database from these definitions. A
// changed type gets a new name beside the old one.

import type { QueryRunner } from 'typeorm'

export interface TableDefinition {
  readonly name: string
  readonly columns: string
  readonly indexes?: readonly IndexDefinition[]
  /** Rows lie in the order of their primary key. */
  readonly isClustered?: boolean
}

export interface IndexDefinition {
  readonly name: string
  readonly columns: string
  readonly isUnique?: boolean
}

export interface ColumnDefinitions {
  /** The whole column `id`. */
  readonly serial: string
  readonly integer: string
  readonly text: (length: number) => string
  readonly document: string
  readonly bytes: string
  /** A text column in an index, which may be too long for the whole text. */
  readonly beginningOf: (column: string) => string
  /** Statements that may run again after an earlier run ended between them. */
  readonly createTable: (table: TableDefinition) => readonly string[]
}

/** True for MySQL and MariaDB, false for SQLite. */
export const isMySql = ({ dataSource }: QueryRunner): boolean => dataSource.options.type === 'mysql'

/** The definitions for the engine on which a migration runs. */
export const columnsFor = (runner: QueryRunner): ColumnDefinitions =>
  isMySql(runner) ? MYSQL : SQLITE

const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'

const MYSQL: ColumnDefinitions = {
  serial: 'id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
  integer: 'bigint',
  text: (length) => `varchar(${length}) ${TEXT}`,
  document: `mediumtext ${TEXT}`,
  bytes: 'mediumblob',
  // InnoDB allows 3,072 bytes.
  beginningOf: (column) => `${column}(191)`,
  // One statement makes a table whole, and does nothing when the table exists: DDL commits by
  // itself.
  createTable: ({ name, columns, indexes = [] }) => {
    const keys = indexes.map(
      (index) =>
        `, ${index.isUnique === true ? 'UNIQUE ' : ''}KEY ${index.name} (${index.columns})`,
    )
    return [`CREATE TABLE IF NOT EXISTS ${name} (${columns}${keys.join('')}) ENGINE=InnoDB ${TEXT}`]
  },
}

const SQLITE: ColumnDefinitions = {
  serial: '"id" integer PRIMARY KEY AUTOINCREMENT NOT NULL',
  integer: 'integer',
  text: (length) => `varchar(${length})`,
  document: 'text',
  bytes: 'blob',
  beginningOf: (column) => column,
  // Changes of tables are part of the migration's transaction.
  createTable: ({ name, columns, indexes = [], isClustered }) => [
    `CREATE TABLE ${name} (${columns})${isClustered === true ? ' WITHOUT ROWID' : ''}`,
    ...indexes.map(
      (index) =>
        `CREATE ${index.isUnique === true ? 'UNIQUE ' : ''}INDEX ${index.name}
          ON ${name} (${index.columns})`,
    ),
  ],
}

/** An index that a migration adds to a table of an earlier one. */
export interface AddedIndex {
  readonly name: string
  readonly table: string
  readonly columns: string
}

/** The tables of a step, in the types of a database. */
export type TablesOf = (types: ColumnDefinitions) => readonly TableDefinition[]

/** Creates the tables of a step that are not there. (migrate/2) */
export async function createTables(runner: QueryRunner, tables: TablesOf): Promise<void> {
  const types = columnsFor(runner)
  for (const table of tables(types)) {
    for (const statement of types.createTable(table)) await runner.query(statement)
  }
}

/** Drops the tables of a step. */
export async function dropTables(runner: QueryRunner, tables: TablesOf): Promise<void> {
  for (const { name } of tables(columnsFor(runner))) await runner.query(`DROP TABLE ${name}`)
}

/**
 * Creates an index unless it is there: a migration that was broken off runs again. The driver's own
 * description of a table would read the whole catalogue of a MySQL server.
 */
export async function createIndex(runner: QueryRunner, index: AddedIndex): Promise<void> {
  const { name, table, columns } = index
  const exists = isMySql(runner) ? '' : ' IF NOT EXISTS'
  if (isMySql(runner)) {
    const rows: unknown = await runner.query(`SHOW INDEX FROM ${table} WHERE Key_name = '${name}'`)
    if (Array.isArray(rows) && rows.length > 0) return
  }
  await runner.query(`CREATE INDEX${exists} ${name} ON ${table} (${columns})`)
}

export async function dropIndex(
  runner: QueryRunner,
  { name, table }: Pick<AddedIndex, 'name' | 'table'>,
): Promise<void> {
  await runner.query(`DROP INDEX ${name}${isMySql(runner) ? ` ON ${table}` : ''}`)
}
