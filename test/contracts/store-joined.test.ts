// The contracts of readers, over stores whose updates are in blocks as soon as they are committed.

import { joined } from '#test/support/joined'
import { emptyFile, openTestStore } from '#test/support/sqlite-store'
import { candidatesContract } from './store-candidates.ts'
import { joinedContract } from './store-joined.ts'
import { pageBytesContract } from './store-page-bytes.ts'
import { pushOrderContract } from './store-push-order.ts'
import { pushContract } from './store-pushes.ts'
import { readingContract } from './store-reading.ts'
import { seriesContract } from './store-series.ts'
import { tierContract } from './store-tiers.ts'

const open = joined(openTestStore)

joinedContract('sqlite', openTestStore)
readingContract('sqlite with blocks', open)
pageBytesContract('sqlite with blocks', open)
pushContract('sqlite with blocks', open)
pushOrderContract('sqlite with blocks', open)
seriesContract('sqlite', openTestStore)
tierContract('sqlite', openTestStore)
candidatesContract('sqlite', async (t) => `sqlite:${await emptyFile(t)}`)
