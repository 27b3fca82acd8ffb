import { storeContract } from './store-contract.ts'
import { openTestStore } from '#test/support/sqlite-store'

storeContract('sqlite', openTestStore)
