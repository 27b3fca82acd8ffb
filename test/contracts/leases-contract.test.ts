import test from 'ava'

import type { NatsServer } from '#src/dev/servers/nats'
import { onOnlyNode } from '#src/runtime/cluster/backend'
import { SoleOwner } from '#src/stream/embedded/leases'
import { KvLeases } from '#src/stream/jetstream/leases'
import { LANES, leasesContract } from '#test/contracts/leases-contract'
import { MemoryLogTable } from '#test/support/memory-log-table'
import { connectNode, only, testsWithNats } from '#test/support/nats'
import { until } from '#test/support/until'

leasesContract(
  (title, run) => test(`embedded: ${title}`, run),
  () => {
    const epochs = { last: 0 }
    const store = { lastEpoch: () => Promise.resolve(epochs.last) }
    const log = new MemoryLogTable()
    return Promise.resolve({
      epochs,
      join: () => SoleOwner.takeOver({ store, log, onFenced: () => undefined }, LANES),
    })
  },
)

const testWithNats = testsWithNats()

let server: NatsServer | undefined
let meetings = 0

leasesContract(
  (title, run) =>
    testWithNats(`NATS KV: ${title}`, (t, servers) => {
      server = only(servers)
      return run(t)
    }),
  (t) => {
    const epochs = { last: 0 }
    const epochFloor = (): Promise<number> => Promise.resolve(epochs.last)
    const url = server?.url ?? ''
    meetings += 1
    const name = `MEETING${meetings}`
    return Promise.resolve({
      epochs,
      join: async (nodeName) => {
        const node = await connectNode(t, url, nodeName)
        const options = { lanes: LANES, nodeName, name, replicas: 1 }
        return new KvLeases({ ...node, epochFloor }, options)
      },
    })
  },
)

testWithNats(
  'only-node/1: one node of two has a task, and the other gets it once it is given up',
  async (t, servers) => {
    const { url } = only(servers)
    const having = new Set<string>()
    let most = 0
    const join = async (nodeName: string): Promise<() => Promise<void>> => {
      const node = await connectNode(t, url, nodeName)
      return onOnlyNode(node, { name: 'task', nodeName, replicas: 1 }, async (isOurs) => {
        if (isOurs) having.add(nodeName)
        else having.delete(nodeName)
        most = Math.max(most, having.size)
      })
    }
    const giveUp = { one: await join('one'), two: await join('two') }
    await until('somebody has it', () => having.size === 1)
    const [first] = having
    await giveUp[first === 'one' ? 'one' : 'two']()
    await until('the other has it', () => having.size === 1 && !having.has(first ?? ''))
    t.is(most, 1)
    await giveUp[first === 'one' ? 'two' : 'one']()
  },
)
