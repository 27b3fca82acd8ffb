import { openLogAt } from '#test/support/log-store'
import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { storeContract } from './store-contract.ts'
import { logContract } from './store-log.ts'

const mariaDb = sharedMariaDb()

storeContract('mysql', async (t, pushes) =>
  openNode(t, await emptyDatabase(t, mariaDb.server()), { pushes }),
)
logContract('mysql', async (t) => openLogAt(t, await emptyDatabase(t, mariaDb.server())))
