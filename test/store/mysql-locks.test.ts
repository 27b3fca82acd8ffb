// Transactions of several nodes wait for each other only where they want the same rows. The tables
// are small here, which is when MySQL would rather read them whole.

import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { until } from '#test/support/gateway'
import { openNotes, write } from '#test/support/mysql-notes'
import { newChannel } from '#test/support/store-writer'
import { channel, message, opId } from '#test/support/submissions'

const mariaDb = sharedMariaDb()

/** Holds the rows that a statement locks, as a node in the middle of a transaction does. */
async function lock(t: ExecutionContext, url: string, statement: string): Promise<void> {
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  const runner = source.createQueryRunner()
  await runner.query('START TRANSACTION')
  await runner.query(statement)
  t.teardown(async () => {
    await runner.query('ROLLBACK')
    await source.destroy()
  })
}

interface Status {
  readonly Value: string
}

/** Every second one of sixteen belongs to this node. */
const ALL = Array.from({ length: 16 }, (_, index) => index)
const MINE = ALL.filter((number) => number % 2 === 0)

mariaDb.test('idle/2: a channel that a turn writes to meanwhile stays', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const { channels, retention } = await openNode(t, url)
  await channels.create({ ...newChannel(channel(1)), createdAt: 1 })
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  t.teardown(() => source.destroy())
  const runner = source.createQueryRunner()
  await runner.query('START TRANSACTION')
  await runner.query('UPDATE channel_heads SET head_seq = head_seq + 1')
  let isOver = false
  const limits = { neverSubscribed: 0, devices: 0, channels: 9, nowMs: 9 }
  const expired = retention.expire(limits, 9).finally(() => (isOver = true))
  // Not innodb_trx: a table that is read more often than ten times a second never changes.
  const waits = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"
  await until(
    async () => isOver || Number((await source.query<Status[]>(waits))[0]?.Value) > 0,
    (is) => is,
  )
  await runner.query('COMMIT')
  t.deepEqual((await expired).channels, [])
  t.not(await channels.credentials(channel(1)), undefined)
})

mariaDb.test('a turn waits for no turn of other lanes', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const { turns } = await openNode(t, url)
  for (const lane of ALL) t.is(await turns.takeLane({ lane, epoch: 1 }), 0)
  await lock(t, url, 'UPDATE lanes SET place = place + 1 WHERE lane IN (1, 3, 15)')
  const lanes = MINE.map((lane) => ({ lane, epoch: 1, from: 0, to: 1 }))
  const committed = await turns.commit({ lanes, channels: [], operations: [], deadLetters: [] })
  t.deepEqual(committed, { kind: 'committed' })
  t.is(await turns.takeLane({ lane: 2, epoch: 2 }), 1)
})

mariaDb.test('a claim waits for no claim of another op_id', async (t, server) => {
  const url = await emptyDatabase(t, server)
  const { operations } = await openNode(t, url)
  const kindsOf = (numbers: readonly number[]) =>
    Promise.all(
      numbers.map(async (number) => {
        const { entityId: messageId } = message()
        const claim = { channelId: channel(1), thingId: '', contentHash: 'a', messageId }
        const opIdOf = opId(`claim-${number}`)
        return (await operations.claim({ ...claim, opId: opIdOf, claimedAt: 1 }, 0)).kind
      }),
    )
  t.deepEqual(new Set(await kindsOf(ALL)), new Set(['fresh']))
  await lock(t, url, `SELECT * FROM claims WHERE op_id = 'claim-1' FOR UPDATE`)
  t.deepEqual(new Set(await kindsOf(MINE)), new Set(['repeat']))
})

// Method: what others commit between two readings of a job, and what the second one gives.
const kinds = [
  ['durable', 'new', 'new'],
  ['repeatable', 'newer', 'newer'],
  ['snapshot', 'newest', 'newer'],
] as const

mariaDb.test(
  'mysql/2: a writing transaction sees rows committed meanwhile, a snapshot does not',
  async (t, server) => {
    const { database } = await openNotes(t, server)
    for (const [kind, meanwhile, second] of kinds) {
      const read = await database[kind](async (session) => {
        await session.all('SELECT text FROM notes')
        await database.durable((other) => write(other, 1, meanwhile))
        return session.first<{ text: string }>('SELECT text FROM notes WHERE id = 1')
      })
      t.is(read?.text, second, kind)
    }
  },
)
