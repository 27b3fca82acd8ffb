// A MariaDB server of its own for a test file, and databases on it.

import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import type { MariaDbServer } from '#src/dev/servers/mariadb'
import { dataSourceOptionsFor } from '#ormconfig'
import { Limiter } from '#domain/bounds/limiter'
import type { PushRules } from '#domain/push'
import { openStore } from '#src/store/store'
import type { StoreRuntime } from '#src/store/opening'
import type { Store } from '#src/store/store'
import { startTestDatabase, UNSYNCED } from '#test/support/current-servers'
import { FakeMeter } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'
import type { Owner } from '#test/support/gateway'
import { sharedServers } from '#test/support/shared-servers'

// Tests run at once, each with a pool of its own.
const PARAMETERS = ['--max-connections=2000', ...UNSYNCED]

export type WithMariaDb = (t: ExecutionContext, server: MariaDbServer) => Promise<void>

/** The server that a file's tests share; undefined where there is none. */
export interface SharedMariaDb {
  /** Declares a test. Without MariaDB it gives the reason and passes; under CI=true it fails. */
  readonly test: (title: string, run: WithMariaDb) => void
  /** The server; throws before it runs. */
  readonly server: () => MariaDbServer
}

/** Starts one server before the tests of a process and ends it after them. */
export const sharedMariaDb = (): SharedMariaDb => (shared ??= declareMariaDb())

let shared: SharedMariaDb | undefined

function declareMariaDb(): SharedMariaDb {
  const { test, servers: server } = sharedServers<MariaDbServer>('MariaDB', {
    start: async () => {
      const started = await startTestDatabase(PARAMETERS)
      return started.kind === 'missing' ? started : { kind: 'started', servers: started.server }
    },
    stop: (running) => running.stop(),
    isSerial: false,
  })
  return { test, server }
}

/**
 * The tests of a file begin at once, and each makes its tables. Together they would keep the server
 * from answering in time.
 */
const openings = new Limiter({ places: 6, waitingMax: Infinity })
const inTurn = <Result>(job: () => Promise<Result>): Promise<Result> => openings.run(job) ?? job()
let made = 0

/** The address of a new empty database; it goes with its server. */
export async function newDatabase(server: MariaDbServer): Promise<string> {
  made += 1
  const name = `test_${made}`
  await inTurn(() => administer(server, `CREATE DATABASE ${name}`))
  return server.urlOf(name)
}

/** Databases with the tables of the store and no rows, which no test uses. */
const unused: string[] = []

/**
 * The address of a database without rows. Its tables may stand already: making them takes half a
 * second, and emptying them some milliseconds.
 */
export async function emptyDatabase(t: Owner, server: MariaDbServer): Promise<string> {
  const url = unused.pop() ?? (await newDatabase(server))
  t.teardown(async () => {
    await connected(url, removeRows)
    unused.push(url)
  })
  return url
}

async function removeRows(source: DataSource): Promise<void> {
  const tables: readonly { readonly name: string }[] = await source.query(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = DATABASE() AND table_name <> 'migrations'`,
  )
  for (const { name } of tables) await source.query(`DELETE FROM ${name}`)
}

/** Runs statements as the server's administrator. */
export async function administer(
  server: MariaDbServer,
  ...statements: readonly string[]
): Promise<void> {
  await connected(server.urlOf('mysql'), async (source) => {
    for (const statement of statements) await source.query(statement)
  })
}

async function connected(url: string, job: (source: DataSource) => Promise<void>): Promise<void> {
  const { entities: _, migrations: __, ...options } = dataSourceOptionsFor(url)
  const source = await new DataSource(options).initialize()
  try {
    await job(source)
  } finally {
    await source.destroy()
  }
}

export interface NodeOptions {
  readonly meter?: FakeMeter
  readonly runtime?: StoreRuntime
  readonly pushes?: PushRules | undefined
}

/** One process's store on a database; it closes with the test. */
export async function openNode(
  t: Owner,
  url: string,
  { meter = new FakeMeter(), runtime = realRuntime, pushes }: NodeOptions = {},
): Promise<Store> {
  const store = await inTurn(() => openStore({ url, meter, runtime, pushes }))
  t.teardown(() => store.close())
  return store
}
