// Nodes that share lanes wait for each other only where they have to.

import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import type { LeaseTable } from '#domain/ports'
import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'

const mariaDb = sharedMariaDb()

const LANES = { first: 0, count: 4 }
const EVERY = [0, 1, 2, 3]
const ANY_MS = -1

/** A connection in the middle of a transaction. */
async function transaction(t: ExecutionContext, url: string) {
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  const runner = source.createQueryRunner()
  await runner.query('START TRANSACTION')
  t.teardown(() => source.destroy())
  return runner
}

const ownersOf = async (table: LeaseTable): Promise<readonly string[]> =>
  (await table.view()).rows.map(({ owner }) => owner)

mariaDb.test('lease-table/3: nobody waits for lanes that a turn has locked', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const table = (await openNode(t, url)).leases(LANES)
  await table.renew('one')
  t.deepEqual(await ownersOf(table), ['', '', '', ''])
  const turn = await transaction(t, url)
  await turn.query('UPDATE lanes SET place = place + 1 WHERE lane IN (1, 3)')
  const taking = { lanes: EVERY, dead: [], deadMs: 0 }
  t.true(await table.take('one', taking))
  t.deepEqual(await ownersOf(table), ['one', '', 'one', ''])
  t.false(await table.take('one', taking))
  await turn.query('ROLLBACK')
  t.true(await table.take('one', taking))
  t.deepEqual(await ownersOf(table), ['one', 'one', 'one', 'one'])
})

mariaDb.test('nodes that take the same lanes at once share them, each once', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const nodes = await Promise.all(
    ['one', 'two', 'three'].map(async (session) => ({
      session,
      table: (await openNode(t, url)).leases(LANES),
    })),
  )
  const [first] = nodes
  if (first === undefined) return t.fail()
  await first.table.renew('gone')
  t.is((await first.table.view()).rows.length, EVERY.length)
  await first.table.take('gone', { lanes: EVERY, dead: [], deadMs: 0 })
  for (const { session, table } of nodes) await table.renew(session)
  const taking = { lanes: EVERY, dead: ['gone'], deadMs: ANY_MS }
  await Promise.all(nodes.map(({ session, table }) => table.take(session, taking)))
  const { rows, holders } = await first.table.view()
  t.deepEqual(
    rows.map(({ epoch }) => epoch),
    [2, 2, 2, 2],
  )
  t.false(holders.some(({ session }) => session === 'gone'))
})

mariaDb.test(
  'lease-table/1: a renewal waits for who is about to take the lanes of its holder',
  async (t, server) => {
    const url = await emptyDatabase(t, server)
    const [one, two] = [await openNode(t, url), await openNode(t, url)]
    const table = one.leases(LANES)
    await table.renew('one')
    await table.renew('two')
    t.is((await ownersOf(table)).length, EVERY.length)
    await table.take('one', { lanes: EVERY, dead: [], deadMs: 0 })
    // The row of a lane is locked last: what takes it has removed the holder's row by then.
    const taker = await transaction(t, url)
    await taker.query("DELETE FROM lease_holders WHERE session = 'one'")
    let isRenewed = false
    const renewed = table.renew('one').then(() => (isRenewed = true))
    await taker.query("UPDATE lanes SET owner = 'two', epoch = epoch + 1")
    t.false(isRenewed)
    await taker.query('COMMIT')
    await renewed
    t.deepEqual(await ownersOf(two.leases(LANES)), ['two', 'two', 'two', 'two'])
  },
)
