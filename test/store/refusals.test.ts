// Goal: a database that refuses the rows of one channel for good stops nobody else, and loses
// nothing of that channel.
// Method: actors over a real database, with a trigger on one channel or a bound on statements.

import { DatabaseSync } from 'node:sqlite'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Submission } from '#domain/submission'
import type { Store } from '#src/store/store'
import { systemOver } from '#test/support/actor-system'
import { administer, emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { MemoryLog } from '#test/support/memory-log'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'
import { newChannel } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'
import { until } from '#test/support/gateway'

const mariaDb = sharedMariaDb()
const REFUSED = channel(1)
const WELL = channel(2)

/** Actors over a store that has two channels; waits take no time. */
async function over(t: ExecutionContext, store: Store) {
  for (const id of [REFUSED, WELL]) await store.channels.create(newChannel(id))
  const log = new MemoryLog()
  const running = systemOver({ store: store.turns, log, leases: [{ lane: 0, epoch: 1 }] })
  await running.system.start()
  t.teardown(() => running.system.halt())
  return { ...running, log, store }
}

type Over = Awaited<ReturnType<typeof over>>

const refusedIn = ({ meter }: Over): number | undefined => meter.gauges.get('refused_channels')?.()

const statusOf = async ({ store }: Over, { opId }: Submission) =>
  (await store.operations.find(opId))?.status

/** Gives submissions that the database refuses, and one of another channel, which is applied. */
async function isRefusedAlone(t: ExecutionContext, running: Over, refused: readonly Submission[]) {
  const well = message({ channelId: WELL })
  running.log.put(0, [...refused, well])
  await until(
    () => statusOf(running, well),
    (status) => status === 'sent',
    20_000,
  )
  t.is(refusedIn(running), 1)
}

/** The same channel once the database takes its rows again. */
async function isTakenAgain(t: ExecutionContext, running: Over) {
  running.clock.now += 60_000
  const after = [message(), message()]
  running.log.put(0, after)
  for (const one of after) {
    await until(
      () => statusOf(running, one),
      (status) => status === 'sent',
      20_000,
    )
  }
  t.is(refusedIn(running), 0)
}

mariaDb.test(
  'W6: a channel that a trigger refuses fails alone, until the trigger is gone',
  async (t, server) => {
    const url = await emptyDatabase(t, server)
    const running = await over(t, await openNode(t, url))
    const database = new URL(url).pathname.slice(1)
    await administer(
      server,
      `CREATE TRIGGER ${database}.refuse BEFORE INSERT ON ${database}.feed_entries FOR EACH ROW
      BEGIN
        IF NEW.channel = (SELECT id FROM ${database}.channels WHERE channel_id = '${REFUSED}')
        THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF;
      END`,
    )
    const refused = [message(), message(), message()]
    await isRefusedAlone(t, running, refused)
    for (const one of refused) t.is(await statusOf(running, one), 'failed')
    await administer(server, `DROP TRIGGER ${database}.refuse`)
    await isTakenAgain(t, running)
  },
)

test('W6: a channel that a trigger of SQLite refuses fails alone', async (t) => {
  const path = await databasePath(t)
  const running = await over(t, await openStoreAt(t, path))
  const other = new DatabaseSync(path)
  t.teardown(() => other.close())
  other.exec(
    `CREATE TRIGGER refuse BEFORE INSERT ON feed_entries
      WHEN NEW.channel = (SELECT id FROM channels WHERE channel_id = '${REFUSED}')
      BEGIN SELECT RAISE(ABORT, 'no'); END`,
  )
  const refused = [message(), message(), message(), message()]
  await isRefusedAlone(t, running, refused)
  for (const one of refused) t.is(await statusOf(running, one), 'failed')
  other.exec('DROP TRIGGER refuse')
  await isTakenAgain(t, running)
})

mariaDb.test(
  'W6: a Thing that has grown too large for a statement stops its channel alone',
  async (t, server) => {
    const url = await emptyDatabase(t, server)
    await administer(server, 'SET GLOBAL max_allowed_packet = 49152')
    t.teardown(() => administer(server, 'SET GLOBAL max_allowed_packet = 16777216'))
    const running = await over(t, await openNode(t, url))
    const refused = Array.from({ length: 4 }, (_, index) =>
      thing('update', 'lamp', { at: index + 1, attrs: { [`a${index}`]: 'x'.repeat(16_000) } }),
    )
    for (const one of refused) running.log.put(0, [one])
    await isRefusedAlone(t, running, [])
    const statuses = await Promise.all(refused.map((one) => statusOf(running, one)))
    t.deepEqual(new Set(statuses), new Set(['sent', 'failed']))
    t.true(statuses.lastIndexOf('sent') < statuses.indexOf('failed'))
  },
)
