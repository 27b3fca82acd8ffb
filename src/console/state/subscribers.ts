// The devices of a channel, and which of them are this browser.

import type { Subscriber } from '#src/client/bodies'
import { client } from './gateway.ts'
import { devices, pushed } from './saved.ts'
import type { SavedDevice } from './saved.ts'

/** A device of a channel; its key where it is one of this browser. */
export type KnownSubscriber = Subscriber & { readonly ownKey: string | undefined }

interface Proof {
  readonly channel_id: string
  readonly password: string
}

/** Throws what the gateway answers. */
export async function listSubscribers(proof: Proof): Promise<readonly KnownSubscriber[]> {
  const { channel } = client.peek()
  const own = new Map<string, string>()
  for (const { deviceKey, channels } of [...devices.peek(), pushed.peek()]) {
    if (!channels.includes(proof.channel_id)) continue
    // Subscribing again changes nothing, and says which subscriber it is.
    const again = channel.subscribe({ ...proof, device_key: deviceKey }).catch(() => undefined)
    const subscriberId = (await again)?.subscriber_id
    if (subscriberId !== undefined) own.set(subscriberId, deviceKey)
  }
  const { subscribers } = await channel.subscribers(proof)
  return subscribers.map((each) => ({ ...each, ownKey: own.get(each.subscriber_id) }))
}

/** Ends the subscription of a device. Throws what the gateway answers. */
export async function removeSubscriber(
  proof: Proof,
  { subscriber_id, ownKey }: KnownSubscriber,
): Promise<void> {
  await client.peek().channel.removeSubscriber({ ...proof, subscriber_id })
  const left = (device: SavedDevice): SavedDevice =>
    device.deviceKey === ownKey
      ? { ...device, channels: device.channels.filter((id) => id !== proof.channel_id) }
      : device
  devices.value = devices.value.map(left)
  pushed.value = left(pushed.value)
}
