import test from 'ava'

import type { Lease } from '#domain/lane'
import { SoleOwner } from '#src/stream/embedded/leases'
import { MemoryLogTable } from '#test/support/memory-log-table'

test('a sole process holds every lane, with an epoch greater than any before', async (t) => {
  const held: (readonly Lease[])[] = []
  const log = new MemoryLogTable()
  for (const last of [0, 41, 7]) {
    const store = { lastEpoch: () => Promise.resolve(last) }
    const owner = await SoleOwner.takeOver({ store, log, onFenced: () => undefined }, 3)
    const stop = await owner.watch((leases) => held.push(leases))
    await stop()
  }
  t.deepEqual(
    held,
    [1, 42, 43].map((epoch) => [0, 1, 2].map((lane) => ({ lane, epoch }))),
  )
})

test('a database that does not answer ends the start, and the log keeps its epoch', async (t) => {
  const store = { lastEpoch: () => Promise.reject(new Error('no database')) }
  const log = new MemoryLogTable()
  await t.throwsAsync(SoleOwner.takeOver({ store, log, onFenced: () => undefined }, 3), {
    message: 'no database',
  })
  t.is(await log.takeOver(0), 1)
})
