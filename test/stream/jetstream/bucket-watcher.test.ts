// Goal: the copy of a bucket is called complete when it is, whatever the size of the bucket.

import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'

import { BucketWatcher } from '#src/stream/jetstream/bucket-watcher'
import { until } from '#test/support/gateway'
import { connectNode, only, testsWithNats } from '#test/support/nats'

const testWithNats = testsWithNats()
/** More than the watcher asks for at once. */
const KEYS = 3_000
const OWNER = 'x'.repeat(1_024)

testWithNats('bucket-watcher/1: no copy is complete before its last entry', async (t, servers) => {
  const node = await connectNode(t, only(servers).url, 'one')
  const manager = await jetstreamManager(node.connection.nats, { checkAPI: false })
  const buckets = new Kvm(jetstream(node.connection.nats, { checkAPI: false }))
  const [lanes] = [await buckets.create('LANES'), await buckets.create('NODES')]
  const keys = Array.from({ length: KEYS }, (_, lane) => `lane.${lane}`)
  await Promise.all(keys.map((key) => lanes.put(key, OWNER)))
  const complete: number[] = []
  const watcher = new BucketWatcher(
    { ...node, manager },
    {
      nodes: 'NODES',
      lanes: 'LANES',
      changed: () => {
        if (watcher.isComplete) complete.push(watcher.lanes.size)
      },
    },
  )
  t.teardown(() => watcher.stop())
  watcher.start()
  await until(
    () => Promise.resolve(watcher.lanes.size),
    (size) => size === KEYS && watcher.isComplete,
  )
  t.deepEqual(
    complete.filter((size) => size < KEYS),
    [],
  )
})
