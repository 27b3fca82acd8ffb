// The database of a log, closed when the test is over.

import type { ExecutionContext } from 'ava'

import { openLog } from '#src/store/log'
import type { LogStore } from '#src/store/log'
import { FakeMeter } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'
import { databasePath } from '#test/support/sqlite-store'

/** Opens the log's database at an address. */
export async function openLogAt(t: ExecutionContext, url: string): Promise<LogStore> {
  const store = await openLog({ url, meter: new FakeMeter(), runtime: realRuntime })
  t.teardown(() => store.close())
  return store
}

/** Opens a log over a SQLite file of its own. */
export const openTestLog = async (t: ExecutionContext): Promise<LogStore> =>
  openLogAt(t, `sqlite:${await databasePath(t)}`)
