// Opens the database and gives everything that is kept in it, one port for each who asks.

import { DataSource } from 'typeorm'

import type { LogTable, Probe } from '#domain/ports'
import type {
  ChannelStore,
  DeviceStore,
  OperationStore,
  ReadStore,
  RetentionStore,
  SubscriptionStore,
  TurnStore,
} from '#domain/store-ports'
import type { Log, Meter } from '#domain/telemetry'
import { dataSourceOptionsFor } from '#ormconfig'
import { Channels } from './channels.ts'
import { Database, withoutParameters } from './database.ts'
import { Devices } from './devices.ts'
import { dialectOf } from './dialect.ts'
import type { Dialect } from './dialect.ts'
import { tablesFor } from './entities/tables.ts'
import { LogBatches } from './log-table.ts'
import { Operations } from './operations.ts'
import { Reading } from './reading.ts'
import { Retention } from './retention.ts'
import { StoreError } from './store-error.ts'
import { Subscriptions } from './subscriptions.ts'
import { Turns } from './turns.ts'

export interface Store {
  readonly turns: TurnStore
  readonly retention: RetentionStore
  readonly channels: ChannelStore
  readonly devices: DeviceStore
  readonly subscriptions: SubscriptionStore
  readonly read: ReadStore
  readonly operations: OperationStore
  readonly logTable: LogTable
  readonly probe: Probe
  /** Ends after the jobs that wait. */
  close(): Promise<void>
}

export interface StoreOptions {
  /** `sqlite:<path>`; the folder of the file is made. `sqlite::memory:` for tests. */
  readonly url: string
  readonly meter: Meter
  readonly log?: Log
}

/**
 * Opens or makes the database and brings its tables up to date. Rejects with a sentence for the
 * operator.
 */
export async function openStore({ url, meter, log }: StoreOptions): Promise<Store> {
  const options = dataSourceOptionsFor(url)
  const dialect = dialectOf(options.type)
  const source = new DataSource(options)
  try {
    await source.initialize()
    await refuseNewer(source)
    const applied = await source.runMigrations({ transaction: 'each' })
    log?.info('the database is open', { engine: dialect.engine, migrations: applied.length })
  } catch (error) {
    if (source.isInitialized) await source.destroy()
    throw withoutParameters(error, dialect)
  }
  return storeOn(source, dialect, meter)
}

function storeOn(source: DataSource, dialect: Dialect, meter: Meter): Store {
  const database = new Database(source, dialect, meter)
  const tables = tablesFor(dialect.types)
  return {
    turns: new Turns(database, tables),
    retention: new Retention(database),
    channels: new Channels(database, tables),
    devices: new Devices(database, tables),
    subscriptions: new Subscriptions(database, tables),
    read: new Reading(database),
    operations: new Operations(database),
    logTable: new LogBatches(database, tables),
    probe: probeOf(database),
    close: () => database.close(),
  }
}

/**
 * A database that a later version has changed is refused: what this one would write could be wrong
 * there.
 */
async function refuseNewer(source: DataSource): Promise<void> {
  const runner = source.createQueryRunner()
  if (!(await runner.hasTable('migrations'))) return
  const rows: unknown = await runner.query('SELECT name FROM migrations')
  const known = new Set(source.migrations.map(({ name }) => name))
  for (const row of Array.isArray(rows) ? (rows as { readonly name: string }[]) : []) {
    if (known.has(row.name)) continue
    throw new StoreError(
      'newer_database',
      `the database was changed by a newer version of this program (${row.name}): ` +
        'start that version, or restore a copy of the database from before it',
    )
  }
}

function probeOf(database: Database): Probe {
  const { durability } = database.dialect
  return {
    readiness: async () => {
      try {
        await database.read((session) => session.first('SELECT 1 AS answer'))
        return { name: 'database', ready: true, detail: durability }
      } catch (error) {
        const detail = error instanceof StoreError ? error.code : 'no answer'
        return { name: 'database', ready: false, detail }
      }
    },
  }
}
