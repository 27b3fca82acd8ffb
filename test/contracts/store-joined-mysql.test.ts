// The contracts of readers over MariaDB, as in store-joined.test.ts. They have a process of their
// own: work of SQLite would hold up the answers of the server until connections are given up.

import { joined } from '#test/support/joined'
import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import type { OpenStore } from './store-contract.ts'
import { candidatesContract } from './store-candidates.ts'
import { joinedContract } from './store-joined.ts'
import { readingContract } from './store-reading.ts'
import { seriesContract } from './store-series.ts'
import { tierContract } from './store-tiers.ts'

const mariaDb = sharedMariaDb()

const open: OpenStore = async (t, pushes) =>
  openNode(t, await emptyDatabase(t, mariaDb.server()), { pushes })

joinedContract('mysql', open)
readingContract('mysql with blocks', joined(open))
seriesContract('mysql', open)
tierContract('mysql', open)
candidatesContract('mysql', (t) => emptyDatabase(t, mariaDb.server()))
