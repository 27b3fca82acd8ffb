// Goal: a database that refuses the rows of one channel for good stops nobody else, and loses
// nothing of that channel.
// Method: actors over a real database, with a trigger on one channel or a bound on statements.

import { DatabaseSync } from 'node:sqlite'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { Submission } from '#domain/submission'
import type { Store } from '#src/store/store'
import { systemOver } from '#test/support/actor-system'
import { administer, newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
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

const waiting = ({ store }: Over) => store.turns.parkedIn(0)

const statusOf = async ({ store }: Over, { opId }: Submission) =>
  (await store.operations.find(opId))?.status

/** Resolves once nothing waits; tries as if time went by. */
async function released(running: Over): Promise<void> {
  await until(
    () => {
      running.clock.now += 60_000
      running.system.tryParked()
      return waiting(running)
    },
    ({ size }) => size === 0,
    20_000,
  )
}

async function isParkedAlone(t: ExecutionContext, running: Over, refused: readonly Submission[]) {
  const well = message({ channelId: WELL })
  running.log.put(0, [...refused, well])
  await until(
    () => statusOf(running, well),
    (status) => status === 'sent',
    20_000,
  )
  t.deepEqual([...(await waiting(running)).keys()], [REFUSED])
}

mariaDb.test(
  'W6: a channel that a trigger refuses waits alone, until the trigger is gone',
  async (t, server) => {
    const url = await newDatabase(server)
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
    await isParkedAlone(t, running, refused)
    for (const one of refused) t.is(await statusOf(running, one), 'processing')
    await administer(server, `DROP TRIGGER ${database}.refuse`)
    await released(running)
    for (const one of refused) t.is(await statusOf(running, one), 'sent')
  },
)

test('W6: a channel that a trigger of SQLite refuses waits alone, but for the first two', async (t) => {
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
  await isParkedAlone(t, running, refused)
  other.exec('DROP TRIGGER refuse')
  await released(running)
  const statuses = await Promise.all(refused.map((one) => statusOf(running, one)))
  t.deepEqual(statuses, ['failed', 'failed', 'sent', 'sent'])
})

mariaDb.test(
  'W6: a Thing that has grown too large for a statement stops its channel alone',
  async (t, server) => {
    const url = await newDatabase(server)
    await administer(server, 'SET GLOBAL max_allowed_packet = 49152')
    t.teardown(() => administer(server, 'SET GLOBAL max_allowed_packet = 16777216'))
    const running = await over(t, await openNode(t, url))
    const refused = Array.from({ length: 4 }, (_, index) =>
      thing('update', 'lamp', { at: index + 1, attrs: { [`a${index}`]: 'x'.repeat(16_000) } }),
    )
    for (const one of refused) running.log.put(0, [one])
    const well = message({ channelId: WELL })
    running.log.put(0, [well])
    await until(
      () => statusOf(running, well),
      (status) => status === 'sent',
      20_000,
    )
    const statuses = await Promise.all(refused.map((one) => statusOf(running, one)))
    t.deepEqual(new Set(statuses), new Set(['sent', 'processing']))
    t.deepEqual([...(await waiting(running)).keys()], [REFUSED])
    const applied = statuses.lastIndexOf('sent')
    t.true(applied < statuses.indexOf('processing'), 'what waits is behind what is applied')
  },
)
