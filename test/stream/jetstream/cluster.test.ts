import { appended, batchOf, idsOf, readAll } from '#test/contracts/log-contract'
import { until } from '#test/support/gateway'
import { connectNode, openLog, ownStream, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats({ servers: 3 })

testWithNats(
  'a log with three replicas loses no appended batch when a server dies',
  async (t, servers) => {
    const node = await connectNode(t, servers.map(({ url }) => url).join(','))
    const log = await openLog(t, node, { ...ownStream(), replicas: 3 })
    for (const id of ['a', 'b', 'c']) await appended(log, batchOf(1, [id]))
    t.is((await readAll(log, 1, 3)).length, 3)
    const connected = servers.find(({ port }) =>
      node.connection.nats.getServer().endsWith(`:${port}`),
    )
    await connected?.kill('SIGKILL')
    await until(
      () => log.append(batchOf(1, ['d'])),
      ({ kind }) => kind === 'appended',
    )
    const ids = idsOf(await readAll(log, 1, 4))
    t.deepEqual(ids.slice(0, 3), ['a', 'b', 'c'])
    t.true(ids.includes('d'))
    await connected?.restart()
  },
)
