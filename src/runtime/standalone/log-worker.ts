// Composes the log of a sole process: a thread with a SQLite database of its own, so that the fsync
// before each answer waits for no turn, and no turn waits for it. It takes the lock of the database
// before it opens anything, and releases it last. The engine opens nothing before the log answers.

import type { Probe } from '#domain/ports'
import type { Logger } from '#domain/telemetry'
import { FENCED } from '#src/runtime/threads/contract'
import type { LogEnd, ReaderEnd, ThreadEnds, ThreadSettings } from '#src/runtime/threads/contract'
import { Rpc } from '#src/threads/rpc'
import { DatabaseInUse, lockDatabase } from '#src/store/sqlite/lock'
import { IN_MEMORY } from '#src/store/sqlite/connection'
import { closeToOthers } from '#src/store/sqlite/private-files'
import { openLog } from '#src/store/log'
import { isUpToDate, sqliteFileOf } from '#src/store/sqlite/source'
import { EmbeddedWriter } from '#src/stream/embedded/writer'
import { databaseOf } from '#src/runtime/threads/servers'
import { createMetrics } from '#src/telemetry/meter'
import { startThread } from '#src/runtime/threads/start-thread'
import type { ThreadEdge } from '#src/runtime/threads/threads'

const SQLITE = 'sqlite:'

/** The address of the log's database, whose file is beside the other one. */
const logUrlFor = (databaseUrl: string): string => `${databaseUrl}-log`

export async function composeEmbeddedLog(
  settings: ThreadSettings,
  edge: ThreadEdge<'log'>,
): Promise<ThreadEnds['log']['services']> {
  const { databaseUrl, logBytesMax } = settings
  const { peer, logger, runtime, servers, fail } = edge
  if (peer === undefined) throw new Error('the log of a sole process has no engine')
  const metrics = createMetrics()
  const { meter } = metrics
  const { nowMs, soon } = runtime
  const path = databaseUrl.slice(SQLITE.length)
  const { lock, store } = await withSettingName(path, async () => {
    const taken = lockDatabase(path)
    reportOpen(path, logger)
    const url = logUrlFor(databaseUrl)
    if (servers === undefined) await bringUpToDate([databaseUrl, url], settings, edge)
    const opening = databaseOf({ databaseUrl: url, databaseCaFile: undefined }, servers)
    return { lock: taken, store: await openLog({ ...opening, meter, runtime }) }
  })
  // Lets the callers of the refused batch get their answers first.
  const onFenced = (): void => soon(() => fail(FENCED))
  const writer = await EmbeddedWriter.open(
    { table: store.table, meter, logger, nowMs, soon, onFenced },
    logBytesMax,
  )
  // The wire keeps calls that the engine made before.
  const engine = new Rpc<LogEnd, ReaderEnd>(peer)
  engine.serve({ log: writer })
  writer.sendTo((batches) => engine.tell('appended', batches))
  return {
    control: {
      metrics: () => metrics.part(),
      nameAddress: async (address) => lock.nameAddress(address),
      close: async () => {
        await store.close()
        lock.release()
      },
    },
    log: writer,
    probe: probeOf(store.probe),
  }
}

/** Closes the files to other users, and warns of those that stay open to them. */
function reportOpen(path: string, logger: Logger): void {
  if (path === IN_MEMORY) return
  for (const open of closeToOthers(path)) {
    logger.warn('other users of this computer can reach this path: close it with chmod go=', {
      path: open,
    })
  }
}

/** Adds the setting that named the database to an error of `open`. */
async function withSettingName<Result>(path: string, open: () => Promise<Result>): Promise<Result> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof DatabaseInUse || !(error instanceof Error)) throw error
    const sentence = `SERVICE_DATABASE_URL names ${path}, which cannot be opened`
    throw new Error(`${sentence}: ${error.message}`, { cause: error })
  }
}

/**
 * Brings the tables of each `sqlite:<path>` up to date, except a database in memory, which migrates
 * when it is opened. The caller holds the lock of the database. TypeORM runs the migrations in a
 * thread that ends afterwards: it takes 9 MB of the thread that loads it until that thread ends.
 */
async function bringUpToDate(
  urls: readonly string[],
  settings: ThreadSettings,
  { threads, logger }: Pick<ThreadEdge, 'threads' | 'logger'>,
): Promise<void> {
  const outdated = urls.filter((url) => {
    const path = sqliteFileOf(url)
    return path !== undefined && !isUpToDate(path)
  })
  if (outdated.length === 0) return
  const onFailure = (): void => undefined // The call below rejects with the same reason.
  const start = { name: 'migration', settings } as const
  const thread = await startThread(start, { threads, logger, onFailure })
  try {
    for (const url of outdated) await thread.services.migration.run(url)
  } finally {
    await thread.stop()
  }
}

const probeOf = (database: Probe): Probe => ({
  readiness: async () => ({ ...(await database.readiness()), name: 'log' }),
})
