// A device made with the SDK: a watch that folds its deliveries, and remembers what it has seen.

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { ThingsView } from '#src/client/view'
import { watch } from '#src/client/watch'
import type { Watch } from '#src/client/watch'
import type { Delivery } from '#src/schemas/frames'
import type { Gateway, Owner } from './gateway.ts'

export interface TestDevice {
  readonly key: string
  readonly view: ThingsView
  /** Every delivery that was new, by channel, in the order of arrival. */
  readonly seen: ReadonlyMap<ChannelId, readonly Delivery[]>
  readonly watch: Watch
}

export const PASSWORD = 'correct-horse-battery'

/** Creates channels with the test password. */
export async function createChannels(gateway: Gateway, count: number): Promise<ChannelId[]> {
  const client = createClient(gateway)
  const made: ChannelId[] = []
  for (let index = 0; index < count; index += 1) {
    const name = { channel_name: `Channel ${index}`, password: PASSWORD }
    made.push((await client.channel.create(name)).channel_id as ChannelId)
  }
  return made
}

const keys = new Map<ChannelId, string>()

/** Makes a key for each channel, for senders and readers on several nodes. */
export async function makeKeys(gateway: Gateway, channels: readonly ChannelId[]): Promise<void> {
  const client = createClient(gateway)
  for (const channel_id of channels) {
    const { key } = await client.key.create({ channel_id, password: PASSWORD })
    keys.set(channel_id, key)
  }
}

/**
 * What opens a channel: the key that a test has made, else the password, which costs each node a
 * quarter of a second of its processor after each start.
 */
export const credentialsOf = (
  channel_id: ChannelId,
): { readonly channel_id: ChannelId; readonly password: string } => ({
  channel_id,
  password: keys.get(channel_id) ?? PASSWORD,
})

/** Registers a device, subscribes it to the channels and watches them until its owner is over. */
export async function watchingDevice(
  t: Owner,
  gateway: Gateway,
  channels: readonly ChannelId[],
): Promise<TestDevice> {
  const client = createClient(gateway)
  const { device_key: key } = await client.device.register({ platform: 'linux' })
  for (const channel_id of channels) {
    await client.channel.subscribe({ device_key: key, channel_id, password: PASSWORD })
  }
  const view = new ThingsView()
  const seen = new Map<ChannelId, Delivery[]>()
  const opened = Promise.withResolvers<void>()
  const watching = watch({
    baseUrl: gateway.baseUrl,
    token: gateway.token,
    deviceKey: key,
    onEntry: (delivery) => {
      if (!view.apply(delivery)) return
      const list = seen.get(delivery.channelId) ?? []
      seen.set(delivery.channelId, list)
      list.push(delivery)
    },
    onGap: (gap) => void view.apply(gap),
    onState: (state) => {
      if (state.kind === 'open') opened.resolve()
    },
  })
  t.teardown(() => watching.close())
  await opened.promise
  return { key, view, seen, watch: watching }
}
