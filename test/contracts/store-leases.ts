// Who owns which lane, as a database keeps it.

import test from 'ava'

import type { LeaseTable } from '#domain/ports'
import { LANES_MAX } from '#domain/lane'
import type { OpenStore } from './store-contract.ts'

const LANES = { first: 0, count: 4 }
/** Nobody is as old. */
const OLD_MS = 60_000
/** Everybody is. */
const ANY_MS = -1

const owners = async (table: LeaseTable): Promise<readonly (readonly [string, number])[]> =>
  (await table.view()).rows.map(({ owner, epoch }) => [owner, epoch])

const sessions = async (table: LeaseTable): Promise<readonly string[]> =>
  (await table.view()).holders.map(({ session }) => session).toSorted()

const taking = (lanes: readonly number[], dead: readonly string[] = [], deadMs = OLD_MS) => ({
  lanes,
  dead,
  deadMs,
})

/** As every node does before it takes anything. */
async function joined(table: LeaseTable, ...names: readonly string[]): Promise<void> {
  for (const name of names) await table.renew(name)
  await table.view()
}

export function leaseTableContract(engine: string, open: OpenStore): void {
  test(`${engine}: lease-table/1: a lane is free as long as no holder owns it`, async (t) => {
    const table = (await open(t)).leases(LANES)
    await joined(table, 'one', 'two')
    t.true(await table.take('one', taking([0, 1, 2, 3])))
    t.false(await table.take('two', taking([0, 1, 2, 3])))
    await table.release('two', [0])
    await table.release('one', [1])
    t.true(await table.take('two', taking([0, 1])))
    t.deepEqual(await owners(table), [
      ['one', 1],
      ['two', 2],
      ['one', 1],
      ['one', 1],
    ])
    await table.leave('one')
    t.deepEqual(await sessions(table), ['two'])
    t.true(await table.take('two', taking([0, 2])))
    t.deepEqual(await owners(table), [
      ['two', 2],
      ['two', 2],
      ['two', 2],
      ['one', 1],
    ])
  })

  test(`${engine}: lease-table/1: the lanes of a holder that has renewed stay its own`, async (t) => {
    const table = (await open(t)).leases(LANES)
    await joined(table, 'one', 'two')
    await table.take('one', taking([0]))
    t.false(await table.take('two', taking([0], ['one'])))
    t.deepEqual(await sessions(table), ['one', 'two'])
    t.true(await table.take('two', taking([0], ['one'], ANY_MS)))
    t.deepEqual(await sessions(table), ['two'])
    // It comes again, and its lanes have gone.
    await table.renew('one')
    t.deepEqual((await owners(table))[0], ['two', 2])
    t.false(await table.take('one', taking([0])))
  })

  test(`${engine}: lease-table/2: each owner of a lane fences the one before`, async (t) => {
    const { leases, turns } = await open(t)
    const table = leases(LANES)
    await joined(table, 'one')
    await table.take('one', taking([1]))
    t.is(await turns.takeLane({ lane: 1, epoch: 1 }), 0)
    await table.release('one', [1])
    await table.take('one', taking([1]))
    t.is(await turns.takeLane({ lane: 1, epoch: 1 }), 'fenced')
    t.is(await turns.takeLane({ lane: 1, epoch: 2 }), 0)
  })

  test(`${engine}: the age of a holder is that of its last renewal`, async (t) => {
    const table = (await open(t)).leases(LANES)
    await table.renew('one')
    await table.renew('one')
    const [holder, ...others] = (await table.view()).holders
    t.deepEqual(others, [])
    t.true(holder !== undefined && holder.ageMs >= 0 && holder.ageMs < OLD_MS)
  })

  test(`${engine}: holders share the lanes of their range alone`, async (t) => {
    const { leases, turns } = await open(t)
    const [lanes, task] = [leases(LANES), leases({ first: LANES_MAX, count: 1 })]
    await joined(lanes, 'one')
    await joined(task, 'two')
    t.true(await task.take('two', taking([LANES_MAX])))
    t.deepEqual([await sessions(lanes), await sessions(task)], [['one'], ['two']])
    t.deepEqual(await owners(task), [['two', 1]])
    t.is((await owners(lanes)).length, 4)
    await t.notThrowsAsync(
      turns.bindLog({
        identity: 'log',
        lanes: 4,
        bounds: async (applied) => {
          t.is(applied.length, 4)
          return []
        },
      }),
    )
  })
}
