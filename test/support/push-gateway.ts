// A whole gateway with stand-ins for Apple and Google, and devices that they reach.

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { startPushServers } from '#src/dev/servers/push/push-servers'
import type { PushServers } from '#src/dev/servers/push/push-servers'
import { PASSWORD } from '#test/support/device'
import { post, startGateway, temporaryFolder } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'

export type Kind = 'apns' | 'fcm' | 'private'

const PLATFORM = { apns: 'ios', fcm: 'android', private: 'linux' } as const

/** A token of each provider's form for every number. */
export const tokenOf = (kind: Kind, number: number): string =>
  kind === 'apns' ? number.toString(16).padStart(64, '0') : `android-token-${number}-of-a-device`

export async function pushServers(t: ExecutionContext): Promise<PushServers> {
  const servers = await startPushServers(await temporaryFolder(t), { nowMs: Date.now })
  t.teardown(() => servers.close())
  return servers
}

export const startPushGateway = (
  t: ExecutionContext,
  { env }: PushServers,
  options: { readonly directory?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Gateway> => startGateway(t, { ...options, env: { ...env, ...options.env } })

/** Registers a device that this provider reaches, and subscribes it. */
export async function addDevice(
  gateway: Gateway,
  channels: readonly ChannelId[],
  { kind, number }: { readonly kind: Kind; readonly number: number },
): Promise<string> {
  const registered = await post(gateway, '/device/register', { platform: PLATFORM[kind] })
  const key = String(registered.body.data['device_key'])
  if (kind !== 'private') {
    const route = { device_key: key, channel_type: kind, provider_token: tokenOf(kind, number) }
    const { status, body } = await post(gateway, '/channel/device', route)
    if (status !== 200) throw new Error(`no route: ${JSON.stringify(body)}`)
  }
  for (const channel_id of channels) {
    const subscription = { device_key: key, channel_id, password: PASSWORD }
    const { status, body } = await post(gateway, '/channel/subscribe', subscription)
    if (status !== 200) throw new Error(`not subscribed: ${JSON.stringify(body)}`)
  }
  return key
}
