// A store over a SQLite file of its own, gone when the test is over.

import { existsSync, statfsSync } from 'node:fs'
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

const MEMORY = '/dev/shm'
const ROOM_MIN = 2 ** 30
/** Memory where there is enough: a disk syncs each commit, and no test cuts the power of one. */
const ROOT = hasRoom() ? MEMORY : tmpdir()

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ROOM_MIN
}

/** A path for a database file in a folder of its own. */
export async function databasePath(t: Owner): Promise<string> {
  const folder = await mkdtemp(join(ROOT, 'heliograph-store-'))
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
