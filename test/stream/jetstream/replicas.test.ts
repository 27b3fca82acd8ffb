// Goal: a node that starts can raise the replicas of a log that holds entries, and says when the
// servers are too few.

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

testWithNats('a cluster that is too small for the replicas says so', async (t, servers) => {
  const url = servers.map((server) => server.url).join(',')
  const node = await connectNode(t, url)
  const options = { ...ownStream(), replicas: 5, firstAnswerMsMax: 500 }
  const sentence = /SERVICE_STREAM_REPLICAS=5 needs as many NATS servers in a cluster: no suitable/
  await t.throwsAsync(openLog(t, node, options), { message: sentence })
  t.regex(JSON.stringify(node.logger.lines), sentence)
})
