import { newDatabase, openNode, sharedMariaDb, withoutBulk } from '#test/support/mariadb'
import { storeContract } from './store-contract.ts'

const mariaDb = sharedMariaDb()

storeContract('mysql', async (t) => openNode(t, await newDatabase(mariaDb.server())))

storeContract('mysql without bulk executions', async (t) =>
  openNode(t, await withoutBulk(t, await newDatabase(mariaDb.server()))),
)
