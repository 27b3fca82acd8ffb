// A database in which the clients of grants were not known yet: what people had bound stays bound.

import { DataSource } from 'typeorm'

import { dataSourceOptionsFor } from '#ormconfig'
import { Assistants1800500000000 } from '#src/store/migrations/10-assistants'
import { newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { PASSWORD_HASH } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { rounds } from '#test/support/until'

const mariaDb = sharedMariaDb()
const A = channel(1)

const LAST = 'SELECT name FROM migrations ORDER BY id DESC LIMIT 1'
/** The statement by which the version before wrote. */
const BINDING = `INSERT INTO bindings (grant_id, channel, password_hash, client_name, bound_at)
  VALUES (?, 1, ?, 'An assistant', 5)`

mariaDb.test('bindings of the version before are ended grant by grant', async (t, server) => {
  const url = await newDatabase(server)
  const old = await new DataSource(dataSourceOptionsFor(url)).initialize()
  t.teardown(() => old.destroy())
  await old.runMigrations({ transaction: 'each' })
  for (const goOn = rounds(); goOn();) {
    const [last] = await old.query<{ name: string }[]>(LAST)
    await old.undoLastMigration({ transaction: 'each' })
    if (last?.name === new Assistants1800500000000().name) break
  }
  await old.query(
    `INSERT INTO channels (channel_id, name, password_hash, created_at, is_deleted)
      VALUES (?, 'a channel', ?, 1, 0)`,
    [A, PASSWORD_HASH],
  )
  for (const grant of ['grant-1', 'grant-2']) await old.query(BINDING, [grant, PASSWORD_HASH])

  const { bindings } = await openNode(t, url)
  // A node of the version before goes on writing, and a step that ended in its middle runs again.
  await old.query(BINDING, ['grant-3', PASSWORD_HASH])
  await new Assistants1800500000000().up(old.createQueryRunner())
  const one = { clientName: 'An assistant', grants: 1, boundAt: 5 }
  const listed = ['grant-1', 'grant-2', 'grant-3'].map((client) => ({ client, ...one }))
  t.deepEqual(await bindings.ofChannel(A), listed)
  t.true(await bindings.endUse(A, 'grant-1'))
  t.deepEqual(await bindings.ofChannel(A), listed.slice(1))
  t.like(await bindings.ofGrant('grant-2'), [{ channelId: A }])

  const [client, browser] = ['c'.repeat(64), 'browser']
  const binding = { grantId: 'grant-4', client, browser, clientName: 'New', boundAt: 6 }
  const proof = { channelId: A, passwordHash: PASSWORD_HASH }
  t.is(await bindings.bind({ ...binding, ...proof }), 'bound')
  t.is((await bindings.ofChannel(A)).length, 3)
})
