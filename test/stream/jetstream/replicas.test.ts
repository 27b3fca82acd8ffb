// Goal: the replicas of the log can be raised over what it holds, by the next node that starts.

import { appended, batchOf, idsOf, readAll } from '#test/contracts/log-contract'
import { connectNode, openLog, ownStream, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats({ servers: 3 })

testWithNats(
  'a log that was just given more replicas answers once it is open',
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
