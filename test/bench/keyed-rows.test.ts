// Goal: what the bench writes by SQL is what the product would have made, in both databases.

import type { ExecutionContext } from 'ava'
import test from 'ava'

import type { DeviceKey } from '#domain/identity'
import { deviceIdOf } from '#src/acceptance/devices/device-identity'
import { keyHashOf } from '#src/acceptance/known-keys'
import type { Store } from '#src/store/store'
import { emptyDatabase, openNode, sharedMariaDb } from '#test/support/mariadb'
import { databasePath, openStoreAt } from '#test/support/sqlite-store'
import { writeRowsAt } from './rig/backend.ts'
import { keyedChannels } from './rig/channel-keys.ts'
import { addDevices, addKeyedChannels } from './rig/database.ts'
import { deviceKeysOf, devicesOfAll } from './rig/device-keys.ts'
import { writeChannels, writeDevices } from './rig/keyed-rows.ts'

const CHANNELS = 50
const DEVICES = devicesOfAll('devices', CHANNELS)
const mariaDb = sharedMariaDb()

test('in SQLite each key opens its channel, and the devices together have each channel once', async (t) => {
  const path = await databasePath(t)
  await (await openStoreAt(t, path)).close()
  await addKeyedChannels(path, CHANNELS)
  await addDevices(path, DEVICES)
  await looksAt(t, await openStoreAt(t, path))
})

mariaDb.test(
  'in MariaDB each key opens its channel, and the devices together have each channel once',
  async (t, server) => {
    const url = await emptyDatabase(t, server)
    const store = await openNode(t, url)
    await writeRowsAt(url, async (writer) => {
      await writeChannels(writer, CHANNELS)
      await writeDevices(writer, DEVICES)
    })
    await looksAt(t, store)
  },
)

test('channels that the devices cannot share out evenly are refused', (t) => {
  t.throws(() => devicesOfAll('devices', CHANNELS + 1), { message: /51 channels/ })
})

async function looksAt(t: ExecutionContext, store: Store): Promise<void> {
  const made = keyedChannels(CHANNELS)
  const found = await store.channelKeys.find(made.map(({ key }) => keyHashOf(key)))
  const channelOf = new Map(found.map(({ keyHash, channelId }) => [keyHash, channelId]))
  for (const { key, channelId } of made) t.is(channelOf.get(keyHashOf(key)), channelId)
  const had: string[] = []
  for (const key of deviceKeysOf(DEVICES.name, DEVICES.count)) {
    const positions = await store.subscriptions.positions(deviceIdOf(key as DeviceKey))
    t.is(positions.length, DEVICES.channels)
    had.push(...positions.map(({ channelId }) => channelId))
  }
  t.deepEqual(had.toSorted(), made.map(({ channelId }) => channelId as string).toSorted())
}
