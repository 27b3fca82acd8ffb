// Goal: from the moment of its 200 an operation is found on every node, also while the node that
// accepted it stops. A node whose question is answered late says so, and never that there is no
// such operation. (decisions.md 5, inquiry/3)
// Method: the only process that applies stands still meanwhile, so the operation is not in the
// database before the other node was asked for it.

import { allLanesApplied, nodeOf, startCluster, testsWithServers } from '#test/support/cluster'
import { createChannels, PASSWORD } from '#test/support/device'
import { get, post, until } from '#test/support/gateway'

const clusterTest = testsWithServers()

const ASKED_FOR_MS = 1_000

clusterTest('what a node accepted before it stopped is found on the others', async (t, servers) => {
  const ingress = { SERVICE_ROLES: 'ingress' }
  const cluster = await startCluster(t, servers, [{ SERVICE_ROLES: 'actors' }, ingress, ingress])
  const [applying, one, two] = [nodeOf(cluster, 0), nodeOf(cluster, 1), nodeOf(cluster, 2)]
  await allLanesApplied(one)
  const [channel_id] = await createChannels(one, 1)
  applying.process.kill('SIGSTOP')
  t.teardown(() => applying.process.kill('SIGCONT'))
  const { status, body } = await post(one, '/message', {
    channel_id,
    password: PASSWORD,
    title: 'a',
  })
  t.is(status, 200)
  const ask = () => get(two, `/send_status/${String(body.data['op_id'])}`)

  const ended = one.end('SIGTERM')
  const startedMs = performance.now()
  const found = new Set<number>()
  await until(ask, (answer) => {
    found.add(answer.status)
    return found.has(200) && performance.now() - startedMs > ASKED_FOR_MS
  })
  found.delete(503)
  t.deepEqual([...found], [200])
  applying.process.kill('SIGCONT')
  t.is(await ended, 0)
  await until(ask, (answer) => answer.status === 200)
})
