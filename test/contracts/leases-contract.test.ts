import test from 'ava'

import type { NatsServer } from '#src/dev/servers/nats'
import { SoleOwner } from '#src/stream/embedded/leases'
import { KvLeases } from '#src/stream/jetstream/leases'
import { LANES, leasesContract } from '#test/contracts/leases-contract'
import { MemoryLogTable } from '#test/support/memory-log-table'
import { connectNode, only, testsWithNats } from '#test/support/nats'

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
