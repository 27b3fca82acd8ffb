import test from 'ava'

import type { Lease } from '#domain/lane'
import { SoleOwner } from '#src/stream/embedded/leases'

test('one process holds every lane, under an epoch greater than any before', async (t) => {
  const held: (readonly Lease[])[] = []
  for (const last of [0, 41]) {
    const owner = new SoleOwner({ lastEpoch: () => Promise.resolve(last) }, 3)
    const stop = await owner.watch((leases) => held.push(leases))
    await stop()
  }
  t.deepEqual(
    held,
    [1, 42].map((epoch) => [0, 1, 2].map((lane) => ({ lane, epoch }))),
  )
})

test('a database that does not answer stops the start', async (t) => {
  const owner = new SoleOwner({ lastEpoch: () => Promise.reject(new Error('no database')) }, 3)
  await t.throwsAsync(
    owner.watch(() => undefined),
    { message: 'no database' },
  )
})
