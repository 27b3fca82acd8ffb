// Method: rows as a node of the version before leaves them, which knows nothing of their last use.

import test from 'ava'
import { DataSource } from 'typeorm'

import { parseDeviceId } from '#domain/identity'
import { dataSourceOptionsFor } from '#ormconfig'
import { databasePath } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'
import { rounds } from '#test/support/until'

const A = channel(1)
const DAY = 86_400_000

test('idle/3: a device or channel that an older node put into use is kept', async (t) => {
  const store = await openWatched(t, `sqlite:${await databasePath(t)}`)
  const deviceId = parseDeviceId('d'.repeat(64))
  if (deviceId === undefined) throw new Error('not a device id')
  await ChannelWriter.open(store, 1)
  await store.devices.create(deviceId, 'linux', 1)
  await store.subscriptions.subscribe(deviceId, A, 1)
  await store.database.durable(async (executor) => {
    await executor.run('UPDATE devices SET seen_at = NULL')
    await executor.run('UPDATE channels SET used_at = 0, used_seq = 0')
  })
  const nowMs = 100 * DAY
  const limits = { neverSubscribed: nowMs - DAY, devices: nowMs, channels: nowMs, nowMs }
  t.deepEqual(await store.retention.expire(limits, 9), { devices: 0, channels: [] })
  t.not(await store.devices.find(deviceId), undefined)
  t.is((await store.channels.info(A))?.subscribers, 1)
  // From now on they are known.
  const rows = await store.database.read((executor) =>
    executor.all('SELECT seen_at AS seenAt, used_at AS usedAt FROM devices, channels'),
  )
  t.deepEqual(rows.map((row) => Object.assign({}, row)) as unknown, [
    { seenAt: nowMs, usedAt: nowMs },
  ])
})

test('devices of a database from before count as seen when its tables change', async (t) => {
  const url = `sqlite:${await databasePath(t)}`
  const source = await new DataSource(dataSourceOptionsFor(url)).initialize()
  t.teardown(() => source.destroy())
  await source.runMigrations()
  const goOn = rounds()
  while (goOn() && (await source.query<{ name: string }[]>(NAMED_LAST_USE)).length > 0) {
    await source.undoLastMigration()
  }
  await source.query(
    `INSERT INTO devices (device_id, platform, channel_type, created_at)
      VALUES ('a', 'linux', 'private', 1)`,
  )
  await source.runMigrations()
  const [row] = await source.query<{ seen_at: number }[]>('SELECT seen_at FROM devices')
  t.true((row?.seen_at ?? 0) > 10_000 * DAY)
})

const NAMED_LAST_USE = "SELECT name FROM migrations WHERE name LIKE 'LastUse%'"
