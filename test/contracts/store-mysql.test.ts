import { openLogAt } from '#test/support/log-store'
import { newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { storeContract } from './store-contract.ts'
import { logContract } from './store-log.ts'

const mariaDb = sharedMariaDb()

storeContract('mysql', async (t, pushes) =>
  openNode(t, await newDatabase(mariaDb.server()), { pushes }),
)
logContract('mysql', async (t) => openLogAt(t, await newDatabase(mariaDb.server())))
