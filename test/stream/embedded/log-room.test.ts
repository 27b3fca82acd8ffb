import test from 'ava'

import { message } from '#test/support/submissions'
import { bench, batchOf, padded, hold } from '#test/support/embedded-log-bench'
import { turn } from '#test/support/until'

test('W4: beyond its byte bound the log refuses appends, and says when to retry', async (t) => {
  const { log, bytes } = await bench({ bytesMax: 1000 })
  t.like(await log.append(padded(600)), { kind: 'appended' })
  t.like(await log.append(padded(400)), { kind: 'appended' })
  t.is(bytes(), 1000)
  t.deepEqual(await log.append(padded(2)), { kind: 'refused', reason: 'full', retryAfterMs: 1000 })
})

test('W4: the log refuses one byte beyond its bound, to which waiting bytes count', async (t) => {
  const { log, table } = await bench({ bytesMax: 1000 })
  const release = hold(table)
  const first = log.append(padded(600))
  t.like(await log.append(padded(401)), { kind: 'refused', reason: 'full' })
  const second = log.append(padded(400))
  await turn()
  await release()
  await release()
  t.like(await first, { kind: 'appended' })
  t.like(await second, { kind: 'appended' })
})

test('W4: the log counts the same bytes as its table, in any script', async (t) => {
  const { log, table, bytes } = await bench({ bytesMax: 100_000 })
  for (let round = 0; round < 5; round += 1) {
    const text = '語'.repeat(300) + '🌍'.repeat(100)
    await log.append(batchOf(0, message({ fields: { title: text } })))
    t.is(bytes(), await table.bytes())
    const held = bytes()
    const { purged } = await log.purge(0, round + 1, 10_000)
    t.is(purged, round === 0 ? 0 : 1)
    t.is(bytes(), await table.bytes())
    if (round > 0) t.true((bytes() ?? 0) < (held ?? 0))
  }
})

test('W4: a writer that opens a log counts the batches in it', async (t) => {
  const first = await bench({ bytesMax: 1000 })
  await first.log.append(padded(900))
  const again = await bench({ bytesMax: 1000 }, first.table)
  t.is(again.bytes(), 900)
  t.like(await again.log.append(padded(101)), { kind: 'refused', reason: 'full' })
  t.like(await again.log.append(padded(100)), { kind: 'appended' })
})

test('W4: a purge removes applied and old batches, and no others', async (t) => {
  const { log, clock, bytes } = await bench()
  for (const now of [1000, 2000, 3000]) {
    clock.now = now
    await log.append(padded(100))
  }
  await log.append(padded(100, 1))
  t.deepEqual(await log.purge(0, 3, 2000), { purged: 1 })
  t.deepEqual(await log.bounds(0), { first: 2, last: 3 })
  t.deepEqual(await log.purge(0, 2, 9000), { purged: 0 }, 'the entry at the position stays')
  t.deepEqual(await log.purge(0, 3, 9000), { purged: 1 })
  t.deepEqual(await log.bounds(0), { first: 3, last: 3 })
  t.deepEqual(await log.bounds(1), { first: 4, last: 4 })
  t.is(bytes(), 200)
})

test('W4: a log more than half full drops applied batches early and keeps unapplied ones', async (t) => {
  const { log, bytes } = await bench({ bytesMax: 1000 })
  for (let count = 0; count < 5; count += 1) await log.append(padded(100))
  t.deepEqual(await log.purge(0, 3, 0), { purged: 0 })
  await log.append(padded(2))
  t.deepEqual(await log.purge(0, 3, 0), { purged: 2 })
  t.is(bytes(), 302)
  t.deepEqual(await log.bounds(0), { first: 3, last: 6 })
})

test('W4: a purge removes every applied and old batch, in several steps', async (t) => {
  const { log, table, bytes } = await bench({ bytesMax: 1_000_000 })
  for (let count = 0; count < 200; count += 1) await log.append(padded(100))
  const steps: number[] = []
  const purge = table.purge.bind(table)
  table.purge = async (...asked) => {
    const purged = await purge(...asked)
    steps.push(purged.rows)
    return purged
  }
  t.deepEqual(await log.purge(0, 190, Number.MAX_SAFE_INTEGER), { purged: 189 })
  t.deepEqual(steps, [64, 64, 61])
  t.is(bytes(), 11 * 100)
})

test('W4: a log stops dropping applied batches early once it is half full', async (t) => {
  const { log, bytes } = await bench({ bytesMax: 30_000 })
  for (let count = 0; count < 300; count += 1) await log.append(padded(100))
  t.deepEqual(await log.purge(0, 300, 0), { purged: 192 })
  t.is(bytes(), 10_800)
  t.deepEqual(await log.purge(0, 300, 0), { purged: 0 })
})
