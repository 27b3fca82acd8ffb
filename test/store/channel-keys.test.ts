// The limit of a channel's keys, which is reached by rows that one statement makes.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { CHANNEL_KEYS_MAX, KEY_SCOPES } from '#domain/channel-keys'
import type { NewChannelKey } from '#domain/channel-keys'
import { newDatabase, sharedMariaDb } from '#test/support/mariadb'
import { databasePath } from '#test/support/sqlite-store'
import { PASSWORD_HASH, changed, newChannel } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

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
