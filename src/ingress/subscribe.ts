// POST /channel/subscribe and /channel/unsubscribe. (decisions.md 7)

import { fault, isFault } from '#domain/fault'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Answer, Bus } from '#domain/ports'
import type { DeviceStore, SubscriptionStore } from '#domain/store-ports'
import { readSubscribe, readUnsubscribe } from '#src/schemas/channel-requests'
import type { Subscribe } from '#src/schemas/channel-requests'
import { makeChannel } from './create-channel.ts'
import type { CreatePorts } from './create-channel.ts'
import type { Credentials } from './credentials.ts'
import { findDevice } from './device-identity.ts'
import type { Handler } from './request.ts'

export interface BindPorts {
  readonly subscriptions: Pick<SubscriptionStore, 'subscribe' | 'unsubscribe' | 'keepOnly'>
  readonly bus: Pick<Bus, 'notify'>
}

export interface SubscribePorts extends BindPorts, CreatePorts {
  readonly devices: Pick<DeviceStore, 'find'>
  readonly credentials: Credentials
}

/** By channel_id: joins the channel. By channel_name: makes a new channel and joins it. */
export function subscribe(ports: SubscribePorts): Handler {
  return async ({ body, receivedAtMs }) => {
    const read = readSubscribe(body)
    if (isFault(read)) return read
    const device = await findDevice(ports.devices, read.deviceKey)
    if (isFault(device)) return device
    const channelId = await channelOf(ports, read, receivedAtMs)
    if (isFault(channelId)) return channelId
    const bound = await bind(ports, { deviceId: device.deviceId, channelId, nowMs: receivedAtMs })
    if (isFault(bound)) return bound
    return {
      channel_id: channelId,
      channel_name: bound.channelName,
      created: read.target.kind === 'new',
      subscribed: true,
    }
  }
}

async function channelOf(
  ports: SubscribePorts,
  { target, password }: Subscribe,
  createdAt: number,
): Promise<Answer<ChannelId>> {
  if (target.kind === 'new') {
    return makeChannel(ports, { channelName: target.channelName, password, createdAt })
  }
  const opened = await ports.credentials.check(target.channelId, password)
  return isFault(opened) ? opened : opened.channelId
}

export interface Binding {
  readonly deviceId: DeviceId
  readonly channelId: ChannelId
  readonly nowMs: number
}

/** Subscribes a device to a channel that it may read, and tells its session. */
export async function bind(
  { subscriptions, bus }: BindPorts,
  { deviceId, channelId, nowMs }: Binding,
): Promise<Answer<{ readonly channelName: string }>> {
  const outcome = await subscriptions.subscribe(deviceId, channelId, nowMs)
  switch (outcome.kind) {
    case 'subscribed':
      if (outcome.isNew) bus.notify({ kind: 'subscribed', channelId, deviceId })
      return { channelName: outcome.channelName }
    case 'full':
      return fault('channel_subscriber_limit_exceeded')
    case 'no-channel':
      return fault('channel_not_found')
    case 'no-device':
      return fault('device_key_not_found', { field: 'device_key' })
  }
}

export function unsubscribe(
  ports: BindPorts & { readonly devices: Pick<DeviceStore, 'find'> },
): Handler {
  return async ({ body }) => {
    const read = readUnsubscribe(body)
    if (isFault(read)) return read
    const device = await findDevice(ports.devices, read.deviceKey)
    if (isFault(device)) return device
    const { channelId } = read
    const { deviceId } = device
    const removed = await ports.subscriptions.unsubscribe(deviceId, channelId)
    if (removed) ports.bus.notify({ kind: 'unsubscribed', channelId, deviceId })
    return { channel_id: channelId, removed }
  }
}
