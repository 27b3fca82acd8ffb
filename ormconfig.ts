// Turns SERVICE_DATABASE_URL into TypeORM's options: the one place that names drivers.

import { EntitySchema } from 'typeorm'
import type { DataSourceOptions } from 'typeorm'

import { dialectOf } from './src/store/dialects.ts'
import type { Table } from './src/store/entities/table.ts'
import { tablesFor } from './src/store/entities/tables.ts'
import { MIGRATIONS } from './src/store/migrations/migrations.ts'
import { tlsOptionsFor } from './src/store/mysql/tls.ts'
import type { TlsOptions } from './src/store/mysql/tls.ts'
import { SqliteConnection } from './src/store/sqlite/connection.ts'
import { STATEMENTS_KEPT, setUp } from './src/store/sqlite/source.ts'

const SQLITE = 'sqlite:'
const MYSQL = 'mysql:'
/** MySQL over TLS. */
const MYSQLS = 'mysqls:'
const MYSQL_PORT = 3306

/** Less than a job waits for an answer, so that its failure says what was not answered. */
const CONNECT_TIMEOUT_MS = 9_000
/** Connections beside those of jobs: the lock of the migrations holds one. */
const CONNECTIONS_ADDED = 2

/**
 * `sqlite:<path>`, `sqlite::memory:`, `mysql://user:password@host:port/database`, or `mysqls://`
 * for TLS. `caFile`: PEM certificates to trust in place of the system's; with it the connection
 * uses TLS. Throws with a sentence for the operator, which leaves the address out: it may hold a
 * password.
 */
export function dataSourceOptionsFor(url: string, caFile?: string): DataSourceOptions {
  const options = url.startsWith(SQLITE) ? sqliteOptionsFor(url) : mysqlOptionsFor(url, caFile)
  if (options !== undefined) return options
  throw new Error(
    'the database address must be sqlite:<path of a file> or ' +
      'mysql://<user>:<password>@<host>:<port>/<database>, or mysqls:// for TLS',
  )
}

function sqliteOptionsFor(url: string): DataSourceOptions | undefined {
  const path = url.slice(SQLITE.length)
  if (path === '') return undefined
  const type = 'better-sqlite3'
  return {
    type,
    driver: SqliteConnection,
    database: path,
    statementCacheSize: STATEMENTS_KEPT,
    prepareDatabase: setUp,
    ...sharedOptionsFor(type),
  }
}

function mysqlOptionsFor(url: string, caFile?: string): DataSourceOptions | undefined {
  const address = URL.parse(url)
  if (address === null || ![MYSQL, MYSQLS].includes(address.protocol)) return undefined
  const { hostname, port, username, password, pathname, search, hash } = address
  const database = decoded(pathname.slice(1))
  const [user, secret] = [decoded(username), decoded(password)]
  const isWhole = hostname !== '' && user !== undefined && secret !== undefined
  if (!isWhole || database === undefined || !/^[^/]+$/.test(database)) return undefined
  if (search !== '' || hash !== '') return undefined
  const type = 'mysql'
  const server = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? MYSQL_PORT : Number(port),
  }
  const isTls = address.protocol === MYSQLS || caFile !== undefined
  const { stream, ...tls } = isTls ? tlsOptionsFor(server, caFile) : NO_TLS
  return {
    type,
    ...server,
    ...tls,
    username: user,
    password: secret,
    database,
    charset: 'utf8mb4_bin',
    connectTimeout: CONNECT_TIMEOUT_MS,
    poolSize: dialectOf(type).connections + CONNECTIONS_ADDED,
    supportBigNumbers: false,
    bigNumberStrings: false,
    multipleStatements: false,
    // An UPDATE counts found rows, also unchanged ones; servers may not ask for local files;
    // executions carry no attributes, for which our packets have no room.
    flags: ['FOUND_ROWS', '-LOCAL_FILES', '-CLIENT_QUERY_ATTRIBUTES'],
    extra: { maxPreparedStatements: STATEMENTS_KEPT, ...(stream && { stream }) },
    ...sharedOptionsFor(type),
  }
}

const NO_TLS: Partial<TlsOptions> = {}

/** The decoded part; undefined when its encoding is broken. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

const sharedOptionsFor = (type: 'better-sqlite3' | 'mysql') => ({
  entities: Object.values(tablesFor(dialectOf(type).types)).map(
    ({ options }: Table<unknown>) => new EntitySchema(options),
  ),
  migrations: MIGRATIONS,
  // Statements are logged with their parameters, and those are secrets and content.
  logging: false,
})
