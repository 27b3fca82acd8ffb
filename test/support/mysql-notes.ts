// A small table on MySQL, for tests of jobs under network failures and other transactions.

import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import type { Runtime } from '#domain/runtime'
import { dataSourceOptionsFor } from '#ormconfig'
import type { MariaDbServer } from '#src/dev/servers/mariadb'
import { Database } from '#src/store/jobs/database'
import { dialectOf } from '#src/store/dialects'
import type { Value } from '#src/store/dialect'
import type { RowsStatement, Executor } from '#src/store/jobs/executor'
import { FakeMeter } from '#test/support/fake-telemetry'
import { newDatabase } from '#test/support/mariadb'
import { realRuntime } from '#test/support/real-runtime'

interface NotesOptions {
  readonly runtime?: Pick<Runtime, 'after' | 'random' | 'soon'>
  /** The port at which to reach the server; absent for its own. */
  readonly port?: number
}

/** A database with one table `notes (id unique, text)`, as two rows. */
export async function openNotes(
  t: ExecutionContext,
  server: MariaDbServer,
  options: NotesOptions = {},
) {
  const url = await newDatabase(server)
  const meter = new FakeMeter()
  const open = async (at: string): Promise<Database> => {
    const source = await new DataSource(dataSourceOptionsFor(at)).initialize()
    const { runtime = realRuntime } = options
    const database = new Database(source, dialectOf('mysql'), meter, runtime)
    t.teardown(() => database.close())
    return database
  }
  const direct = await open(url)
  await direct.durable((executor) =>
    executor.run('CREATE TABLE notes (id bigint PRIMARY KEY, text varchar(99) NOT NULL)'),
  )
  await direct.durable((executor) => executor.run("INSERT INTO notes VALUES (1, 'a'), (2, 'b')"))
  const texts = (): Promise<readonly string[]> =>
    direct.read(async (executor) =>
      (await executor.all<{ text: string }>('SELECT text FROM notes ORDER BY id')).map(
        ({ text }) => text,
      ),
    )
  const relayed = url.replace(`:${server.port}/`, `:${options.port ?? server.port}/`)
  return { database: await open(relayed), meter, texts }
}

/** Rows for a table, in one INSERT. */
export const rowsFor = (
  table: string,
  [first = [], ...others]: readonly (readonly Value[])[],
): RowsStatement => {
  const rows = 1 + others.length
  const row = `(${first.map(() => '?').join(', ')})`
  const sql = `INSERT INTO ${table} VALUES ${Array<string>(rows).fill(row).join(', ')}`
  return { sql, rows, values: [first, ...others].flat() }
}

/** Changes a row. */
export const write = (executor: Executor, id: number, text: string) =>
  executor.run('UPDATE notes SET text = ? WHERE id = ?', [text, id])
