// The contracts of readers, over stores whose updates are in blocks as soon as they are committed.

import { gathered } from '#test/support/gathered'
import { openTestStore } from '#test/support/sqlite-store'
import { gatheredContract } from './store-gathered.ts'
import { pageBytesContract } from './store-page-bytes.ts'
import { pushOrderContract } from './store-push-order.ts'
import { pushContract } from './store-pushes.ts'
import { readingContract } from './store-reading.ts'

const open = gathered(openTestStore)

gatheredContract('sqlite', openTestStore)
readingContract('sqlite with blocks', open)
pageBytesContract('sqlite with blocks', open)
pushContract('sqlite with blocks', open)
pushOrderContract('sqlite with blocks', open)
