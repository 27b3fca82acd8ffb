import { storeContract } from './store-contract.ts'
import { logContract } from './store-log.ts'
import { openTestLog } from '#test/support/log-store'
import { openTestStore } from '#test/support/sqlite-store'

storeContract('sqlite', openTestStore)
logContract('sqlite', openTestLog)
