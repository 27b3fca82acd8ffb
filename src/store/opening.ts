// Opens the database: waits for one that is away, and brings its tables up to date.

import { firstAnswer } from '#domain/first-answer'
import type { Patience } from '#domain/first-answer'
import type { Probe } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'
import { Database, withoutParameters } from './jobs/database.ts'
import { setFact } from './turns/lanes.ts'
import type { Opened, Opener } from './jobs/executor.ts'
import { sqlite } from './sqlite/dialect.ts'
import { SqliteSource, isUpToDate, sqliteFileOf } from './sqlite/source.ts'
import { StoreError, causeOf } from './store-error.ts'

/** Timeouts, jitter between attempts, and the random identity of a new log. */
export type StoreRuntime = Pick<Runtime, 'after' | 'random' | 'entropy' | 'soon'>

export interface OpeningOptions {
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
  /** Opens the database in place of the address. */
  readonly opener?: Opener
  /** Bytes of pages of a SQLite file that stay in memory; for a store by default. */
  readonly cacheBytes?: number
  /** Milliseconds to wait for a database that is away; see domain/first-answer.ts. */
  readonly firstAnswerMsMax?: number
}

/**
 * Opens or makes the database and brings its tables up to date. Waits for a database that is away.
 * Rejects with a sentence for the operator.
 */
export async function openDatabase(options: OpeningOptions): Promise<Database> {
  const { meter, logger, runtime, firstAnswerMsMax } = options
  const { dialect, open } = await openingOf(options)
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
    const { source, migrations } = await firstAnswer(open, patience)
    logger?.info('the database is open', { engine: dialect.engine, migrations })
    const database = new Database(source, dialect, meter, runtime)
    await checkDriver(database, { patience, logger })
    return database
  } catch (error) {
    throw wordsOf(error)
  }
}

/** TypeORM migrates, and holds the connections of MySQL; SQLite's one needs nothing of it. */
async function openingOf(options: OpeningOptions): Promise<Opener> {
  const { url, caFile, cacheBytes, opener } = options
  if (opener !== undefined) return opener
  const path = sqliteFileOf(url)
  if (path === undefined) return (await import('./typeorm.ts')).openingWithTypeOrm(url, caFile)
  const open = async (): Promise<Opened> => {
    const isMigrated = isUpToDate(path)
    const migrations = isMigrated ? 0 : await (await import('./typeorm.ts')).migrateFile(url)
    return { source: new SqliteSource(path, cacheBytes), migrations }
  }
  return { dialect: sqlite, open }
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

/** The name of the fact that shows whether the database takes writes. */
const PROBED = 'probed'

/** Ready while the database takes writes: one whose disk is full goes on answering reads. */
export function probeOf(database: Database, random: StoreRuntime['random']): Probe {
  const { durability } = database.dialect
  return {
    readiness: async () => {
      try {
        // MySQL would not write a value that is there already.
        await database.single((executor) => setFact(executor, PROBED, String(random(2 ** 32))))
        return { name: 'database', ready: true, detail: durability }
      } catch (error) {
        const detail = error instanceof StoreError ? error.code : 'no answer'
        return { name: 'database', ready: false, detail }
      }
    },
  }
}
