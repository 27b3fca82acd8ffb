import { newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { storeContract } from './store-contract.ts'

const mariaDb = sharedMariaDb()

storeContract('mysql', async (t, pushes) =>
  openNode(t, await newDatabase(mariaDb.server()), { pushes }),
)
