// A database of the version before dispatch: it is migrated while nodes of that version go on.

import { DataSource } from 'typeorm'

import { PROVIDERS } from '#domain/push/providers'
import { dataSourceOptionsFor } from '#ormconfig'
import { Tables1766000000000 } from '#src/store/migrations/1-tables'
import { Spans1795000000000 } from '#src/store/migrations/2-spans'
import { Blocks1795200000000 } from '#src/store/migrations/3-blocks'
import { newDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { RULES, Worker, deviceId, placesOf } from '#test/support/push-jobs'
import { ChannelWriter, PASSWORD_HASH } from '#test/support/store-writer'
import { channel, message } from '#test/support/submissions'

const mariaDb = sharedMariaDb()
const A = channel(1)
const BEFORE = [Tables1766000000000, Spans1795000000000, Blocks1795200000000]

/** The statements by which the version before wrote, with their columns by name. */
const CHANNEL = `INSERT INTO channels (channel_id, name, password_hash, created_at, is_deleted)
  VALUES (?, 'a channel', ?, 1, 0)`
const HEAD = `INSERT INTO channel_heads
    (channel, head_seq, things, open_events, entries_floor, tombstone_floor)
  VALUES (?, ?, 0, 0, 0, 0) ON DUPLICATE KEY UPDATE head_seq = VALUES(head_seq)`
const DEVICE = `INSERT INTO devices
    (device_id, platform, channel_type, provider_token, created_at)
  VALUES (?, 'ios', 'apns', ?, 1)`
const SUBSCRIPTION = `INSERT INTO subscriptions
    (channel, device, since_seq, acked_seq, acked_ahead, created_at)
  SELECT c.id, d.id, 0, 0, '[]', 1 FROM channels c, devices d WHERE d.device_id = ?`

mariaDb.test(
  'devices of the version before get pushes, and it goes on writing',
  async (t, server) => {
    const url = await newDatabase(server)
    const old = await new DataSource({
      ...dataSourceOptionsFor(url),
      migrations: BEFORE,
    }).initialize()
    t.teardown(() => old.destroy())
    await old.runMigrations({ transaction: 'each' })
    await old.query(CHANNEL, [A, PASSWORD_HASH])
    await old.query(HEAD, [1, 0])
    await old.query(DEVICE, [deviceId(1), 'token 1'])
    await old.query(SUBSCRIPTION, [deviceId(1)])

    const store = await openNode(t, url, { pushes: RULES })
    await old.query(HEAD, [1, 4])
    await old.query(DEVICE, [deviceId(2), 'token 2'])
    await old.query(SUBSCRIPTION, [deviceId(2)])
    await old.query(CHANNEL, [channel(2), PASSWORD_HASH])
    await old.query(HEAD, [2, 0])
    await old.query(DEVICE, [deviceId(3), 'token 3'])
    await old.query(`${SUBSCRIPTION} AND c.id = 2`, [deviceId(3)])
    t.deepEqual(await store.pushes.tend(0, 1), { after: 0, ended: 0 })

    const first = await ChannelWriter.resume(store, 1)
    await first.take(message()).commit()
    const second = await ChannelWriter.resume(store, 2)
    await second.take(message()).commit()
    // The devices of one entry have no order.
    t.deepEqual(placesOf(await new Worker(store).claim(2_000, PROVIDERS[0])).toSorted(), [
      'token 1 5',
      'token 2 5',
      'token 3 1',
    ])
    await store.devices.setRoute(deviceId(2), 'private', undefined)
    t.is((await store.devices.find(deviceId(2)))?.channelType, 'private')
  },
)
