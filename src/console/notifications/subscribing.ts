// Notifications of this browser: a device of its own, which the gateway reaches by Web Push also
// while no page is open.

import { isRecord } from '#domain/record'
import { browserName } from '#console/people/browser-name.ts'
import { client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import type { Preferences } from '#console/people/preferences.ts'
import { pushed } from '#console/state/saved.ts'

/** What this browser can do: subscribe with the gateway's key, or why it cannot. */
export type PushOffer =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'none' | 'insecure' | 'home-screen' }

/** Throws what the gateway answers. */
export async function pushOffer(): Promise<PushOffer> {
  const { webpush } = await client.peek().profile()
  const key = isRecord(webpush) ? webpush['public_key'] : undefined
  if (typeof key !== 'string') return { kind: 'none' }
  if (!globalThis.isSecureContext) return { kind: 'insecure' }
  if ('serviceWorker' in navigator && 'PushManager' in globalThis) return { kind: 'key', key }
  // Apple's phones and tablets have pushes in installed pages alone; an iPad says it is a Mac.
  const { userAgent, maxTouchPoints } = navigator
  const isMobile = /iPhone|iPad|Macintosh/.test(userAgent) && maxTouchPoints > 1
  return { kind: isMobile ? 'home-screen' : 'none' }
}

/** False when the person has not allowed notifications. Throws what the gateway answers. */
export async function notifyHere(channelId: string, key: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false
  const { pushManager } = await navigator.serviceWorker.ready
  const wish = { userVisibleOnly: true, applicationServerKey: key }
  const subscription = await pushManager.subscribe(wish)
  const { device, channel } = client.peek()
  // The key of a device that is gone is answered by a new one.
  const { device_key } = await device.register({
    platform: 'web',
    label: browserName(),
    device_key: pushed.value.deviceKey,
  })
  const provider_token = JSON.stringify(subscription)
  await device.setRoute({ device_key, channel_type: 'webpush', provider_token })
  await channel.subscribe({ ...readerOf(channelId), device_key })
  const others = device_key === pushed.value.deviceKey ? pushed.value.channels : []
  pushed.value = { deviceKey: device_key, channels: [...new Set([...others, channelId])] }
  return true
}

/** Ends the notifications of a channel. */
export async function stopNotifying(channelId: string): Promise<void> {
  const { deviceKey, channels } = pushed.value
  await client.peek().channel.unsubscribe({ device_key: deviceKey, channel_id: channelId })
  pushed.value = { deviceKey, channels: channels.filter((id) => id !== channelId) }
}

/** The preferences of this browser for a channel. Throws what the gateway answers. */
export async function readPreferences(channelId: string): Promise<Preferences> {
  const body = { channel_id: channelId, device_key: pushed.peek().deviceKey }
  const { notify } = await client.peek().channel.info(body)
  return notify ?? {}
}

export async function writePreferences(channelId: string, notify: Preferences): Promise<void> {
  const body = { channel_id: channelId, device_key: pushed.peek().deviceKey, notify }
  await client.peek().channel.notify(body)
}
