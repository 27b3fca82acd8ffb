// Goal: a database that answers reads and takes no writes, as with a full disk, is not ready.
// Method: a trigger or a lock refuses what the probe writes, and goes away again.

import { DatabaseSync } from 'node:sqlite'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Probe } from '#domain/ports'
import { openLog } from '#src/store/log'
import { FakeMeter } from '#test/support/fake-telemetry'
import { administer, emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { realRuntime } from '#test/support/real-runtime'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'

const mariaDb = sharedMariaDb()

async function openLogAt(t: ExecutionContext, path: string) {
  const log = await openLog({ url: `sqlite:${path}`, meter: new FakeMeter(), runtime: realRuntime })
  t.teardown(() => log.close())
  return log
}

const SQLITE: readonly (readonly [
  what: string,
  open: (t: ExecutionContext, path: string) => Promise<{ readonly probe: Probe }>,
])[] = [
  ['store', openStoreAt],
  ['log', openLogAt],
]

for (const [what, open] of SQLITE) {
  test(`a ${what} in SQLite that takes no writes is not ready until it does`, async (t) => {
    const path = await databasePath(t)
    const { probe } = await open(t, path)
    t.true((await probe.readiness()).ready)
    const other = new DatabaseSync(path)
    t.teardown(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    t.like(await probe.readiness(), { ready: false, detail: 'SQLITE_BUSY' })
    other.exec('ROLLBACK')
    t.true((await probe.readiness()).ready)
  })
}

mariaDb.test(
  'a store in MySQL that takes no writes is not ready until it does',
  async (t, server) => {
    const url = await emptyDatabase(t, server)
    const { probe } = await openNode(t, url)
    t.true((await probe.readiness()).ready)
    const database = new URL(url).pathname.slice(1)
    const refusing = `BEFORE UPDATE ON ${database}.gateway_meta FOR EACH ROW
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'`
    await administer(server, `CREATE TRIGGER ${database}.refuse ${refusing}`)
    t.like(await probe.readiness(), { name: 'database', ready: false })
    await administer(server, `DROP TRIGGER ${database}.refuse`)
    t.true((await probe.readiness()).ready)
  },
)
