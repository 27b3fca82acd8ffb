// The database of a log, closed when the test is over.

import { openLog } from '#src/store/log'
import type { LogStore } from '#src/store/log'
import { FakeMeter } from '#test/support/fake-telemetry'
import type { Owner } from '#test/support/gateway'
import { realRuntime } from '#test/support/real-runtime'
import { databasePath } from '#test/support/sqlite-store'

/** Opens the log's database at an address. */
export async function openLogAt(t: Owner, url: string): Promise<LogStore> {
  const store = await openLog({ url, meter: new FakeMeter(), runtime: realRuntime })
  t.teardown(() => store.close())
  return store
}

/** Opens a log over a SQLite file of its own. */
export const openTestLog = async (t: Owner): Promise<LogStore> =>
  openLogAt(t, `sqlite:${await databasePath(t)}`)
