// The contracts of readers, over stores whose updates are in blocks as soon as they are committed.

import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { gathersAfterCommits } from '#test/support/gathered'
import { openTestStore } from '#test/support/sqlite-store'
import type { OpenStore } from './store-contract.ts'
import { gatheredContract } from './store-gathered.ts'
import { pageBytesContract } from './store-page-bytes.ts'
import { pushOrderContract } from './store-push-order.ts'
import { pushContract } from './store-pushes.ts'
import { readingContract } from './store-reading.ts'

const mariaDb = sharedMariaDb()

const openMySql: OpenStore = async (t, pushes) =>
  openNode(t, await emptyDatabase(t, mariaDb.server()), { pushes })

const gathered =
  (open: OpenStore): OpenStore =>
  async (t, pushes) =>
    gathersAfterCommits(await open(t, pushes))

for (const [engine, open] of [
  ['sqlite', openTestStore],
  ['mysql', openMySql],
] as const) {
  gatheredContract(engine, open)
  readingContract(`${engine} with blocks`, gathered(open))
}
pageBytesContract('sqlite with blocks', gathered(openTestStore))
pushContract('sqlite with blocks', gathered(openTestStore))
pushOrderContract('sqlite with blocks', gathered(openTestStore))
