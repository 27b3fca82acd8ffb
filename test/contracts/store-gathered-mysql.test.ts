// The contracts of readers over MariaDB, as in store-gathered.test.ts. They have a process of their
// own: work of SQLite would hold up the answers of the server until connections are given up.

import { gathered } from '#test/support/gathered'
import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import type { OpenStore } from './store-contract.ts'
import { gatheredContract } from './store-gathered.ts'
import { readingContract } from './store-reading.ts'

const mariaDb = sharedMariaDb()

const open: OpenStore = async (t, pushes) =>
  openNode(t, await emptyDatabase(t, mariaDb.server()), { pushes })

gatheredContract('mysql', open)
readingContract('mysql with blocks', gathered(open))
