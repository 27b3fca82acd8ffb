// A store over a SQLite file of its own, gone when the test is over.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { ExecutionContext } from 'ava'

import type { PushRules } from '#domain/push'
import { openStore } from '#src/store/store'
import type { Store } from '#src/store/store'
import { FakeMeter } from '#test/support/fake-telemetry'
import { realRuntime } from '#test/support/real-runtime'

/** A path for a database file in a folder of its own. */
export async function databasePath(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'heliograph-store-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'store.db')
}

export async function openTestStore(t: ExecutionContext, pushes?: PushRules): Promise<Store> {
  return openStoreAt(t, await databasePath(t), pushes)
}

export async function openStoreAt(
  t: ExecutionContext,
  path: string,
  pushes?: PushRules,
): Promise<Store> {
  const store = await openStore({
    runtime: realRuntime,
    url: `sqlite:${path}`,
    meter: new FakeMeter(),
    pushes,
  })
  t.teardown(() => store.close())
  return store
}
