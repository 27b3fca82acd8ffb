// The table of the embedded log: order, places, purging.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Batch } from '#domain/lane'
import type { LogStore } from '#src/store/log'
import { appendTo } from '#test/support/append-to'

const batch = (lane: number, count = 1, payload = `["${lane}"]`): Batch => ({
  lane,
  count,
  payload,
})

/** Opens the database of an empty log that is closed and removed when the test is over. */
type OpenLog = (t: ExecutionContext) => Promise<LogStore>

export function logContract(engine: string, open: OpenLog): void {
  test(`${engine}: batches are read back in the order of their positions`, async (t) => {
    const { table } = await open(t)
    const batches = [batch(0, 1, '["a"]'), batch(1, 2, '["b"]'), batch(0, 3, '["c"]')]
    const positions = await appendTo(table, batches)
    t.is(new Set(positions).size, 3)
    const [later = 0] = await appendTo(table, [batch(0, 1, '["d"]')], { nowMs: 2 })
    t.true(later > Math.max(...positions))

    const [first = 0] = positions
    t.deepEqual(
      (await table.read(0, 0, 100)).map(({ payload, position }) => [payload, position]),
      [
        ['["a"]', first],
        ['["c"]', positions[2]],
        ['["d"]', later],
      ],
    )
    t.deepEqual(
      (await table.read(0, first, 100)).map(({ payload }) => payload),
      ['["c"]', '["d"]'],
    )
    t.deepEqual(await table.read(2, 0, 100), [])
  })

  test(`${engine}: hundreds of batches get a position each in one append`, async (t) => {
    const { table } = await open(t)
    const batches = Array.from({ length: 300 }, (_, index) => batch(0, 1, `["${index}"]`))
    const positions = await appendTo(table, batches)
    t.deepEqual(
      (await table.read(0, 0, 1_000)).map(({ position, payload }) => [position, payload]),
      positions.map((position, index) => [position, `["${index}"]`]),
    )
  })

  test(`${engine}: a read holds a bounded number of submissions but at least one batch`, async (t) => {
    const { table } = await open(t)
    await appendTo(table, [batch(0, 5), batch(0, 3), batch(0, 2), batch(0, 4)])
    const rows: [max: number, batches: number][] = [
      [1, 1],
      [5, 1],
      [7, 1],
      [8, 2],
      [10, 3],
      [13, 3],
      [14, 4],
    ]
    for (const [max, batches] of rows) t.is((await table.read(0, 0, max)).length, batches)
  })

  test(`${engine}: a read stops before its payload grows beyond memory`, async (t) => {
    const { table } = await open(t)
    const large = `["${'x'.repeat(3 * 2 ** 20)}"]`
    await appendTo(table, [batch(0, 1, large), batch(0, 1, large), batch(0, 1, large)])
    t.is((await table.read(0, 0, 100)).length, 2)
  })

  test(`${engine}: bounds are zero for a lane that never had a batch`, async (t) => {
    const { table } = await open(t)
    const [position = 0] = await appendTo(table, [batch(0)])
    t.deepEqual(await table.bounds(0), { first: position, last: position })
    t.deepEqual(await table.bounds(1), { first: 0, last: 0 })
  })

  test(`${engine}: a purge removes applied and old batches, oldest first`, async (t) => {
    const { table } = await open(t)
    const [one = 0, two = 0] = await appendTo(table, [batch(0), batch(0)], { nowMs: 100 })
    const [three = 0] = await appendTo(table, [batch(0)], { nowMs: 200 })
    await appendTo(table, [batch(1)], { nowMs: 100 })
    const purge = (through: number, olderThanMs: number, maxRows = 10) =>
      table.purge(0, through, olderThanMs, maxRows)

    t.deepEqual(await purge(three, 100), { rows: 0, bytes: 0 })
    t.deepEqual(await purge(three, 101, 1), { rows: 1, bytes: 5 })
    t.deepEqual(await table.bounds(0), { first: two, last: three })
    t.deepEqual(await purge(one, 999), { rows: 0, bytes: 0 })
    t.deepEqual(await purge(three, 200), { rows: 1, bytes: 5 })
    t.deepEqual(await purge(two, 999), { rows: 0, bytes: 0 })
    t.is((await table.read(1, 0, 10)).length, 1)
  })

  test(`${engine}: the held bytes are the appended ones less the purged ones`, async (t) => {
    const { table } = await open(t)
    t.is(await table.bytes(), 0)
    const [one = 0] = await appendTo(table, [batch(0, 1, '12345'), batch(1, 1, '123')])
    t.is(await table.bytes(), 8)
    const { bytes } = await table.purge(0, one, 2, 10)
    t.is(await table.bytes(), 8 - bytes)
  })

  test(`${engine}: a log counts bytes and not characters`, async (t) => {
    const { table } = await open(t)
    await appendTo(table, [batch(0, 1, 'Grüße 🌱')])
    t.is(await table.bytes(), 12)
  })

  test(`${engine}: the log's name stays and differs from another database's`, async (t) => {
    const { table } = await open(t)
    const identity = await table.identity()
    t.regex(identity, /^[0-9a-f]{32}$/)
    t.is(await table.identity(), identity)
    t.not(await (await open(t)).table.identity(), identity)
  })

  test(`${engine}: W2: a log that was taken over keeps no batch of its earlier owner`, async (t) => {
    const { table } = await open(t)
    const first = await table.takeOver(0)
    const [position = 0] = await appendTo(table, [batch(0)], { nowMs: 1, epoch: first })
    const second = await table.takeOver(0)
    t.is(await table.append([batch(0)], { nowMs: 2, epoch: first }), 'fenced')
    t.deepEqual(await table.bounds(0), { first: position, last: position })
    const [next = 0] = await appendTo(table, [batch(0)], { nowMs: 3, epoch: second })
    t.deepEqual(await table.bounds(0), { first: position, last: next })
  })

  test(`${engine}: W2: each epoch of a log is greater than any before`, async (t) => {
    const { table } = await open(t)
    t.deepEqual(
      [
        await table.takeOver(0),
        await table.takeOver(0),
        await table.takeOver(41),
        await table.takeOver(7),
      ],
      [1, 2, 42, 43],
    )
  })
}
