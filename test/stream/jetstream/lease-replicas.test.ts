// Goal: the lease buckets have as many replicas as the log, also after an operator raised the
// setting: a bucket with one replica is lost with its server, and then nobody applies a lane.

import type { ExecutionContext } from 'ava'

import { KvLeases } from '#src/stream/jetstream/leases'
import { connectNode, connectOperator, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats({ servers: 3 })

const NAME = 'RAISED'
const LANES = 4

/** Lets a process with this setting join and leave. */
async function joinAndLeave(t: ExecutionContext, url: string, replicas: number): Promise<void> {
  const node = await connectNode(t, url)
  const ports = { ...node, epochFloor: () => Promise.resolve(0) }
  const leases = new KvLeases(ports, { lanes: LANES, nodeName: 'node', name: NAME, replicas })
  const leave = await leases.watch(() => undefined)
  await leave()
}

testWithNats(
  'a node that starts gives existing lease buckets the configured replicas',
  async (t, servers) => {
    const url = servers.map((server) => server.url).join(',')
    const manager = await connectOperator(t, url)
    for (const replicas of [1, 3]) {
      await joinAndLeave(t, url, replicas)
      for (const bucket of [`KV_${NAME}_NODES`, `KV_${NAME}_LANES`]) {
        const { config } = await manager.streams.info(bucket)
        t.is(config.num_replicas, replicas, bucket)
      }
    }
  },
)
