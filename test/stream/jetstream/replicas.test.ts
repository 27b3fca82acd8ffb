// Goal: a node that starts can raise the replicas of a log that holds entries.

import { appended, batchOf, idsOf, readAll } from '#test/contracts/log-contract'
import { connectNode, openLog, ownStream, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats({ servers: 3 })

testWithNats(
  'a log answers as soon as a node has opened it with more replicas',
  async (t, servers) => {
    const url = servers.map((server) => server.url).join(',')
    const options = ownStream()
    const log = await openLog(t, await connectNode(t, url), options)
    const position = await appended(log, batchOf(1, ['a']))
    const raised = await openLog(t, await connectNode(t, url), { ...options, replicas: 3 })
    t.deepEqual(await raised.bounds(1), { first: position, last: position })
    await appended(raised, batchOf(1, ['b']))
    t.deepEqual(idsOf(await readAll(raised, 1, 2)), ['a', 'b'])
  },
)
