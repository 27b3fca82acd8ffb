// The servers of a cluster: one nats-server and one database of the bench's own, as the tests have
// them. (test/support/current-servers.ts)

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createConnection } from 'mysql2/promise'
import type { Connection, ResultSetHeader } from 'mysql2/promise'

import { ARE_CURRENT, startTestDatabase, startTestNats } from '#test/support/current-servers'
import { OF_UPDATES, UNJOINED } from './database.ts'
import type { CountQueries, RowCounts, Stored } from './database.ts'
import type { RowWriter } from './keyed-rows.ts'

export interface BackingServers {
  readonly natsUrl: string
  readonly databaseUrl: string
  /** Process ids by name. */
  readonly pids: Readonly<Record<string, number>>
  stop(): Promise<void>
}

export const DATABASE_NAME = ARE_CURRENT ? 'MySQL' : 'MariaDB'

/** Text for the details of a figure. */
export const BACKING_SYNC = ARE_CURRENT
  ? 'JetStream: file storage, 1 replica, sync_interval: always; ' +
    'MySQL: innodb_flush_log_at_trx_commit=1 and sync_binlog=1 (defaults)'
  : 'JetStream: file storage, 1 replica, default sync (every 2 min, a 200 does not wait for it); ' +
    'MariaDB: innodb_flush_log_at_trx_commit=1 (default)'

const DATABASE = 'bench'
// The product's and the denominator's server alike: room for a run's rows and their redo log, so
// that neither measures how soon InnoDB runs out of it. Durability stays the server's default.
const DATABASE_PARAMETERS = [
  '--innodb-buffer-pool-size=1G',
  '--local-infile=ON', // The denominator loads rows from a stream.
  ARE_CURRENT ? '--innodb-redo-log-capacity=512M' : '--innodb-log-file-size=512M',
]

/** Rejects with a sentence when a server is missing or does not start. */
export async function startBacking(directory: string): Promise<BackingServers> {
  const natsDirectory = join(directory, 'nats')
  await mkdir(natsDirectory, { recursive: true })
  const natsPidFile = join(natsDirectory, 'nats.pid')
  const nats = await startTestNats({
    directory: natsDirectory,
    configuration: `pid_file: "${natsPidFile}"\n`,
  })
  const [natsServer] = nats.kind === 'started' ? nats.servers : []
  if (natsServer === undefined) throw new Error(reasonOf(nats))
  const database = await startTestDatabase(DATABASE_PARAMETERS).catch(async (error: unknown) => {
    await natsServer.stop()
    throw error
  })
  if (database.kind === 'missing') {
    await natsServer.stop()
    throw new Error(reasonOf(database))
  }
  const { server } = database
  const databasePidFile = await withDatabase(server.urlOf('mysql'), async (connection) => {
    await connection.query(`CREATE DATABASE IF NOT EXISTS ${DATABASE}`)
    return (await columnOf(connection, 'SELECT @@pid_file')).join()
  })
  return {
    natsUrl: natsServer.url,
    databaseUrl: server.urlOf(DATABASE),
    pids: {
      nats: await pidIn(natsPidFile),
      database: await pidIn(databasePidFile),
    },
    stop: async () => {
      await Promise.allSettled([natsServer.stop(), server.stop()])
    },
  }
}

/** Counts rows in one snapshot; the servers may be running. */
export function countRowsAt(databaseUrl: string, queries: CountQueries): Promise<RowCounts> {
  return inSnapshot(databaseUrl, async (connection) => {
    const { operations, revisions, feed } = queries
    return {
      operations: await numberOf(connection, operations),
      revisions: await numberOf(connection, revisions),
      feed: await numberOf(connection, feed),
    }
  })
}

const TABLES = 'SELECT table_name FROM information_schema.tables WHERE table_schema = database()'
// Pages in use, those of long values among them: not what a table holds ready to grow, up to 4 MB
// for each index, nor the inner pages, half a percent.
const PAGES = `SELECT coalesce(sum(stat_value), 0) * @@innodb_page_size
  FROM mysql.innodb_index_stats WHERE database_name = database() AND stat_name = 'n_leaf_pages'`
const PAGES_OF_UPDATES = `${PAGES} AND table_name IN ${OF_UPDATES}`

/** What the database takes: its pages as the server counts them once it was asked to look anew. */
export function storedAt(databaseUrl: string): Promise<Stored> {
  return withDatabase(databaseUrl, async (connection) => {
    const tables = await columnOf(connection, TABLES)
    await connection.query(`ANALYZE TABLE ${tables.join(', ')}`)
    return {
      bytes: await numberOf(connection, PAGES),
      ofUpdates: await numberOf(connection, PAGES_OF_UPDATES),
      unjoined: await numberOf(connection, UNJOINED),
    }
  })
}

/** The first column of each query, all in one snapshot. */
export function columnsAt(
  databaseUrl: string,
  queries: readonly string[],
): Promise<readonly (readonly unknown[])[]> {
  return inSnapshot(databaseUrl, async (connection) => {
    const columns: (readonly unknown[])[] = []
    for (const query of queries) columns.push(await columnOf(connection, query))
    return columns
  })
}

/** Writes rows in one transaction; the servers may be running. */
export const writeRowsAt = (
  databaseUrl: string,
  write: (writer: RowWriter) => Promise<void>,
): Promise<void> =>
  withDatabase(databaseUrl, async (connection) => {
    await connection.beginTransaction()
    await write({
      run: async (sql, parameters) => {
        const [{ insertId }] = await connection.execute<ResultSetHeader>(sql, [...parameters])
        return insertId
      },
    })
    await connection.commit()
  })

const inSnapshot = <Result>(
  url: string,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> =>
  withDatabase(url, async (connection) => {
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    return work(connection)
  })

async function withDatabase<Result>(
  url: string,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const connection = await createConnection(url)
  try {
    return await work(connection)
  } finally {
    await connection.end()
  }
}

const numberOf = async (connection: Connection, query: string): Promise<number> =>
  Number((await columnOf(connection, query))[0] ?? Number.NaN)

async function columnOf(connection: Connection, query: string): Promise<readonly unknown[]> {
  const [rows] = await connection.query({ sql: query, rowsAsArray: true })
  return Array.isArray(rows) ? rows.map((row) => (Array.isArray(row) ? row[0] : row)) : []
}

const pidIn = async (file: string): Promise<number> => Number(await readFile(file, 'utf8'))

const reasonOf = (started: object): string =>
  'reason' in started ? String(started.reason) : 'nats-server did not start'
