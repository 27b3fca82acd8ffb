// Brings the databases of a sole process up to date, in a thread that ends afterwards: TypeORM runs
// the migrations, and takes 9 MB of the thread that loads it until that thread ends.

import { isUpToDate, sqliteFileOf } from '#src/store/sqlite/source'
import type { ThreadSettings } from '#src/runtime/threads/contract'
import { startThread } from '#src/runtime/threads/start-thread'
import type { ThreadEdge } from '#src/runtime/threads/threads'

/**
 * Brings the tables of each `sqlite:<path>` up to date, except a database in memory, which migrates
 * when it is opened. The caller holds the lock of the database. Rejects with a sentence for the
 * operator.
 */
export async function bringUpToDate(
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
