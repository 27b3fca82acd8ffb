// Opens the database and gives its ports, one for each stage that uses it.

import { DataSource } from 'typeorm'
import type { DataSourceOptions } from 'typeorm'

import { firstAnswer } from '#domain/first-answer'
import type { Patience } from '#domain/first-answer'
import type { LogTable, Probe } from '#domain/ports'
import type { PushRules, PushStore } from '#domain/push'
import type { Runtime } from '#domain/runtime'
import type { RetentionStore } from '#domain/retention-ports'
import type { AuthorizationRecordStore, BindingStore } from '#domain/authorization-store'
import type { ChannelKeyStore } from '#domain/channel-keys'
import type {
  ChannelStore,
  DeviceStore,
  OperationStore,
  ReadStore,
  SubscriptionStore,
  TurnStore,
} from '#domain/store-ports'
import type { Logger, Meter } from '#domain/telemetry'
import { dataSourceOptionsFor } from '#ormconfig'
import { AuthorizationRecords } from './authorization.ts'
import { Bindings } from './bindings.ts'
import { ChannelKeys } from './channel-keys.ts'
import { Channels } from './channels.ts'
import { Database, withoutParameters } from './database.ts'
import { Devices } from './devices.ts'
import { dialectOf } from './dialects.ts'
import type { Dialect } from './dialect.ts'
import { tablesFor } from './entities/tables.ts'
import { LogBatches } from './log-table.ts'
import { migrate } from './migrate.ts'
import { Operations } from './operations.ts'
import { Pushes } from './pushes/pushes.ts'
import { isAnyParked } from './parked.ts'
import { Reading } from './reading.ts'
import { Retention } from './retention.ts'
import { StoreError, causeOf } from './store-error.ts'
import { Subscriptions } from './subscriptions.ts'
import { Turns } from './turns.ts'

export interface Store {
  readonly turns: TurnStore
  readonly retention: RetentionStore
  readonly channels: ChannelStore
  readonly channelKeys: ChannelKeyStore
  readonly authorization: AuthorizationRecordStore
  readonly bindings: BindingStore
  readonly devices: DeviceStore
  readonly subscriptions: SubscriptionStore
  readonly read: ReadStore
  readonly operations: OperationStore
  /** The jobs of dispatch. */
  readonly pushes: PushStore
  /** The table of the embedded log in a sole process; a cluster has its log elsewhere. */
  readonly logTable: LogTable
  readonly probe: Probe
  /** Reports channels whose rows the database refuses. */
  readonly parked: Probe
  /** Closes after the waiting jobs. */
  close(): Promise<void>
}

/** Timeouts, jitter between attempts, and the random identity of a new log. */
export type StoreRuntime = Pick<Runtime, 'after' | 'random' | 'entropy' | 'soon'>

export interface StoreOptions {
  /**
   * `sqlite:<path>`; the folder of the file is made. `sqlite::memory:` for tests.
   * `mysql://user:password@host:port/database`, `mysqls://` for TLS; the database must exist.
   */
  readonly url: string
  /** PEM certificates to trust, for MySQL over TLS. */
  readonly caFile?: string | undefined
  readonly meter: Meter
  readonly logger?: Logger
  readonly runtime: StoreRuntime
  /**
   * The rules by which turns make push jobs, and by which operations end; absent when no pushes are
   * made.
   */
  readonly pushes?: PushRules | undefined
  /** Milliseconds to wait for a database that is away; see domain/first-answer.ts. */
  readonly firstAnswerMsMax?: number
}

/**
 * Opens or makes the database and brings its tables up to date. Waits for a database that is away.
 * Rejects with a sentence for the operator.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { url, meter, logger, runtime, firstAnswerMsMax } = options
  const sourceOptions = dataSourceOptionsFor(url, options.caFile)
  const dialect = dialectOf(sourceOptions.type)
  const wordsOf = (error: unknown): Error => withoutParameters(error, dialect)
  const patience = {
    fact: 'the database does not answer; trying again',
    // Wrong credentials and a missing database are refusals, which stay.
    mayPass: (error: unknown) => dialect.failureOf(causeOf(error)) === 'lost',
    reasonOf: (error: unknown) => wordsOf(error).message,
    logger,
    after: runtime.after,
    boundMs: firstAnswerMsMax,
  } satisfies Patience
  try {
    const source = await firstAnswer(() => openSource(sourceOptions, { dialect, logger }), patience)
    const database = new Database(source, dialect, meter, runtime)
    await checkDriver(database, { patience, logger })
    return storeOn(database, runtime, options.pushes ?? NO_PUSHES)
  } catch (error) {
    throw wordsOf(error)
  }
}

/** Existing jobs still end when they expire. */
const NO_PUSHES: PushRules = {
  providers: [],
  thingIntervalMs: 0,
  queued: 'provider_queued',
  ending: () => ({ status: 'sent' }),
}

async function openSource(
  options: DataSourceOptions,
  { dialect, logger }: { readonly dialect: Dialect; readonly logger: Logger | undefined },
): Promise<DataSource> {
  const source = new DataSource(options)
  try {
    await source.initialize()
    const migrations = await migrate(source, dialect)
    logger?.info('the database is open', { engine: dialect.engine, migrations })
    return source
  } catch (error) {
    if (source.isInitialized) await source.destroy()
    throw error
  }
}

interface Checking {
  readonly patience: Patience
  readonly logger: Logger | undefined
}

async function checkDriver(database: Database, { patience, logger }: Checking): Promise<void> {
  try {
    await firstAnswer(() => database.check(logger), patience)
  } catch (error) {
    await database.close()
    throw error
  }
}

function storeOn(database: Database, { entropy }: StoreRuntime, pushes: PushRules): Store {
  const tables = tablesFor(database.dialect.types)
  return {
    turns: new Turns(database, tables, pushes),
    retention: new Retention(database),
    channels: new Channels(database, tables),
    channelKeys: new ChannelKeys(database, tables),
    authorization: new AuthorizationRecords(database, tables),
    bindings: new Bindings(database, tables),
    devices: new Devices(database, tables),
    subscriptions: new Subscriptions(database, tables),
    read: new Reading(database),
    operations: new Operations(database, tables),
    pushes: new Pushes(database, tables, pushes),
    logTable: new LogBatches(database, tables, entropy),
    probe: probeOf(database),
    parked: parkedProbe(database),
    close: () => database.close(),
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

/** Always ready: the other channels are served, and on every node alike. */
function parkedProbe(database: Database): Probe {
  const detail = async (): Promise<string> => {
    const isParked = await isAnyParked(database).catch(() => undefined)
    if (isParked === undefined) return 'not known'
    return isParked ? 'some are parked: the database refuses their rows' : 'all are applied'
  }
  return { readiness: async () => ({ name: 'channels', ready: true, detail: await detail() }) }
}
