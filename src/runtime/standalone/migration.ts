// Composes the thread that runs the migrations of a sole process. (log-worker.ts)

import { migrateFile } from '#src/store/typeorm'
import type { ThreadEnds } from '#src/runtime/threads/contract'

export const composeMigration = (): Promise<ThreadEnds['migration']['services']> =>
  Promise.resolve({
    control: { metrics: () => Promise.resolve([]), close: () => Promise.resolve() },
    migration: { run: migrateFile },
  })
