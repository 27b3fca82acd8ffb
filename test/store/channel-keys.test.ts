// The limit of a channel's keys, and a table of keys that the version before left. The limit is
// reached by rows that one statement makes.

import test from 'ava'
import type { ExecutionContext } from 'ava'
import { DataSource } from 'typeorm'

import { CHANNEL_KEYS_MAX, KEY_SCOPES } from '#domain/channel-keys'
import type { NewChannelKey } from '#domain/channel-keys'
import { dataSourceOptionsFor } from '#ormconfig'
import { KeyRights1802000000000 } from '#src/store/migrations/12-key-rights'
import { newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'
import { PASSWORD_HASH, changed, newChannel } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'
import type { Store } from '#src/store/store'

const mariaDb = sharedMariaDb()
const A = channel(1)

const key = (number: number, parts: Partial<NewChannelKey> = {}): NewChannelKey => ({
  keyHash: number.toString(16).padStart(64, '0'),
  keyId: number.toString(16).padStart(32, '0'),
  channelId: A,
  passwordHash: PASSWORD_HASH,
  label: '',
  createdAt: 1,
  scopes: KEY_SCOPES,
  thingPrefix: '',
  expiresAt: 0,
  ...parts,
})

const DIGITS = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(' UNION ALL ')
const NUMBERS = `SELECT a.d + b.d * 10 + c.d * 100 + d.d * 1000 + e.d * 10000 AS n FROM
  (${DIGITS}) a, (${DIGITS}) b, (${DIGITS}) c, (${DIGITS}) d, (${DIGITS}) e`

async function reachesItsLimit(t: ExecutionContext, url: string): Promise<void> {
  const { database, channels, channelKeys } = await openWatched(t, url)
  await channels.create(newChannel(A))
  t.is(await channelKeys.create(key(1)), 'created')
  await database.durable((executor) =>
    executor.run(
      `INSERT INTO channel_keys (key_hash, channel, key_id, label, created_at, epoch)
        SELECT m.n + 1000000, k.channel, m.n + 1000000, '', 1, k.epoch
        FROM channel_keys k, (${NUMBERS}) m WHERE m.n < ?`,
      [CHANNEL_KEYS_MAX - 2],
    ),
  )
  const many = [3, 5, 7].map((number) => channelKeys.create(key(number)))
  t.deepEqual((await Promise.all(many)).toSorted(), ['created', 'full', 'full'])
  t.true(await channelKeys.revoke(A, key(1).keyId))
  t.is(await channelKeys.create(key(8, { expiresAt: 5_000 })), 'created')
  t.is(await channelKeys.create(key(9, { createdAt: 4_999 })), 'full')
  t.is(await channelKeys.create(key(9, { createdAt: 5_000 })), 'created')
  t.deepEqual(await channelKeys.find([key(8).keyHash]), [])
  await channels.changePassword(A, changed(PASSWORD_HASH, 'another'))
  t.is(await channelKeys.create(key(11, { passwordHash: 'another' })), 'created')
}

const TITLE = 'stored-keys/2: a channel has 100,000 keys; void and expired ones make room'
test(`sqlite: ${TITLE}`, async (t) => {
  await reachesItsLimit(t, `sqlite:${await databasePath(t)}`)
})
mariaDb.test(`mysql: ${TITLE}`, async (t, server) => {
  await reachesItsLimit(t, await newDatabase(server))
})

const LAST = 'SELECT name FROM migrations ORDER BY id DESC LIMIT 1'
/** The statements by which the version before wrote. */
const OLD_CHANNEL = `INSERT INTO channels
  (channel_id, name, password_hash, created_at, is_deleted) VALUES (?, 'a channel', ?, 1, 0)`
const OLD_KEY = `INSERT INTO channel_keys
  (key_hash, channel, password_hash, key_id, label, created_at) VALUES (?, 1, ?, ?, 'old', 5)`
const OLD_REMOVAL = 'DELETE FROM channel_keys WHERE channel = ? AND password_hash <> ?'

type Reopened = (url: string) => Promise<Store>

async function upgrades(t: ExecutionContext, url: string, reopened: Reopened): Promise<void> {
  const old = await new DataSource(dataSourceOptionsFor(url)).initialize()
  t.teardown(() => old.destroy())
  await old.runMigrations({ transaction: 'each' })
  for (;;) {
    const [last] = await old.query<{ name: string }[]>(LAST)
    await old.undoLastMigration({ transaction: 'each' })
    if (last?.name === new KeyRights1802000000000().name) break
  }
  const add = (number: number): Promise<unknown> =>
    old.query(OLD_KEY, [key(number).keyHash, PASSWORD_HASH, key(number).keyId])
  await old.query(OLD_CHANNEL, [A, PASSWORD_HASH])
  await add(1)
  const { channels, channelKeys } = await reopened(url)
  const good = async (): Promise<readonly string[]> => {
    const found = await channelKeys.find([1, 2, 3, 4].map((number) => key(number).keyHash))
    return found.map(({ keyId }) => keyId.slice(-1)).toSorted()
  }
  // A node of the version before goes on writing.
  await add(2)
  t.deepEqual(await good(), ['1', '2'])
  await channelKeys.create(key(3))
  t.deepEqual(await good(), ['1', '2', '3'])
  await old.query(OLD_REMOVAL, [1, 'any other'])
  t.deepEqual(await good(), ['3'], 'it leaves keys alone that it does not know')
  await add(4)
  const anew = { previousHash: PASSWORD_HASH, passwordHash: 'anew', kept: 'everything' } as const
  t.true(await channels.changePassword(A, anew))
  t.deepEqual(await good(), ['3', '4'])
  await old.query("UPDATE channels SET password_hash = 'by the version before'")
  t.deepEqual(await good(), [])
  await channelKeys.create(key(1, { passwordHash: 'by the version before' }))
  t.deepEqual(await good(), ['1'])
}

const UPGRADE = 'stored-keys/1: keys of the version before live on, until it changes the password'
test(`sqlite: ${UPGRADE}`, async (t) => {
  const path = await databasePath(t)
  await upgrades(t, `sqlite:${path}`, () => openStoreAt(t, path))
})
mariaDb.test(`mysql: ${UPGRADE}`, async (t, server) => {
  await upgrades(t, await newDatabase(server), (url) => openNode(t, url))
})
