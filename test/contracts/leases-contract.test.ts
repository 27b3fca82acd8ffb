import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { LeaseTable } from '#domain/ports'
import { onOnlyNode } from '#src/runtime/cluster/backend'
import { SoleOwner } from '#src/stream/embedded/leases'
import { SharedLeases } from '#src/stream/leases/leases'
import { LANES, leasesContract } from '#test/contracts/leases-contract'
import { FakeBus } from '#test/support/fake-bus'
import { FakeLogger } from '#test/support/fake-telemetry'
import { MemoryLogTable } from '#test/support/memory-log-table'
import { realRuntime } from '#test/support/real-runtime'
import { openTestStore } from '#test/support/sqlite-store'
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

const sharedBy = (table: LeaseTable, bus: FakeBus, nodeName: string): SharedLeases => {
  const { monotonicMs, entropy } = realRuntime
  const reachLog = (): Promise<void> => Promise.resolve()
  const ports = { table, bus, reachLog, meter: undefined, logger: new FakeLogger() }
  return new SharedLeases({ ...ports, timers: realRuntime, monotonicMs, entropy }, nodeName)
}

async function sharedTable(t: ExecutionContext, count: number) {
  const { leases, turns } = await openTestStore(t)
  return { table: leases({ first: 0, count }), turns, bus: new FakeBus() }
}

leasesContract(
  (title, run) => test(`shared: ${title}`, run),
  async (t) => {
    const epochs = { last: 0 }
    const { table, turns, bus } = await sharedTable(t, LANES)
    return {
      epochs,
      join: async (nodeName) => {
        const lanes = epochs.last === 0 ? 0 : LANES
        for (let lane = 0; lane < lanes; lane += 1) {
          await turns.takeLane({ lane, epoch: epochs.last })
        }
        return sharedBy(table, bus, nodeName)
      },
    }
  },
)

test('only-node/1: one node of two has a task, and the other gets it once it is given up', async (t) => {
  const { table, bus } = await sharedTable(t, 1)
  const having = new Set<string>()
  let most = 0
  const join = (nodeName: string): Promise<() => Promise<void>> =>
    onOnlyNode(sharedBy(table, bus, nodeName), async (isOurs) => {
      if (isOurs) having.add(nodeName)
      else having.delete(nodeName)
      most = Math.max(most, having.size)
    })
  const giveUp = { one: await join('one'), two: await join('two') }
  await until('somebody has it', () => having.size === 1)
  const [first] = having
  await giveUp[first === 'one' ? 'one' : 'two']()
  await until('the other has it', () => having.size === 1 && !having.has(first ?? ''))
  t.is(most, 1)
  await giveUp[first === 'one' ? 'two' : 'one']()
})
