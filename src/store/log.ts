// Opens the database of a sole process's log. Its thread loads nothing else of the store.

import type { LogTable, Probe } from '#domain/ports'
import { tablesFor } from './entities/tables.ts'
import { LogBatches } from './turns/log-table.ts'
import { openDatabase, probeOf } from './opening.ts'
import type { OpeningOptions } from './opening.ts'

/** A log is written at one end and read there; its pages are not asked for again. */
const CACHE_BYTES = 4 * 2 ** 20

export interface LogStore {
  readonly table: LogTable
  readonly probe: Probe
  /** Closes after the waiting jobs. */
  close(): Promise<void>
}

/** Opens or makes the log's database. Rejects with a sentence for the operator. */
export async function openLog(options: OpeningOptions): Promise<LogStore> {
  const database = await openDatabase({ ...options, cacheBytes: CACHE_BYTES })
  const tables = tablesFor(database.dialect.types)
  return {
    table: new LogBatches(database, tables, options.runtime.entropy),
    probe: probeOf(database, options.runtime.random),
    close: () => database.close(),
  }
}
