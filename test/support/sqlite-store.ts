// A store over a SQLite file of its own, gone when the test is over.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { PushRules } from '#domain/push'
import { openStore } from '#src/store/store'
import type { Store } from '#src/store/store'
import { FakeMeter } from '#test/support/fake-telemetry'
import type { Owner } from '#test/support/gateway'
import { makeTables } from '#test/support/made-tables'
import { realRuntime } from '#test/support/real-runtime'

/** A path for a database file in a folder of its own. */
export async function databasePath(t: Owner): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-store-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

/** The path of a database file of its own, with every table and no row. */
export async function emptyFile(t: Owner): Promise<string> {
  const path = await databasePath(t)
  await makeTables(path)
  return path
}

export async function openTestStore(t: Owner, pushes?: PushRules): Promise<Store> {
  return openStoreAt(t, await emptyFile(t), pushes)
}

export async function openStoreAt(t: Owner, path: string, pushes?: PushRules): Promise<Store> {
  const store = await openStore({
    runtime: realRuntime,
    url: `sqlite:${path}`,
    meter: new FakeMeter(),
    pushes,
  })
  t.teardown(() => store.close())
  return store
}
