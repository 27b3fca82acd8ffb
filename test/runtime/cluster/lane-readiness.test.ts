import test from 'ava'

import { laneProbe } from '#src/runtime/cluster/backend'
import { LocalBus } from '#src/stream/embedded/bus'

test('the lanes are ready while each had a notice within five seconds', async (t) => {
  const bus = new LocalBus()
  let now = 0
  const probe = laneProbe(bus, { lanes: 2, monotonicMs: () => now })
  const isReady = async (): Promise<boolean> => (await probe.readiness()).ready
  t.false(await isReady())
  bus.notify({ kind: 'applied', lane: 0, position: 1 })
  t.deepEqual(await probe.readiness(), { name: 'lanes', ready: false, detail: '1 of 2 applied' })
  now = 1_000
  bus.notify({ kind: 'applied', lane: 1, position: 1 })
  bus.notify({ kind: 'applied', lane: 2, position: 1 })
  t.true(await isReady())
  now = 5_000
  t.true(await isReady())
  now = 5_001
  t.false(await isReady())
})
