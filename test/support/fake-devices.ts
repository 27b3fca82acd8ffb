// Devices and their subscriptions, in memory.

import type { NamedDevice, Subscriber } from '#domain/administration'
import { SUBSCRIBERS_MAX } from '#domain/channel'
import type { ChannelType, Device } from '#domain/device'
import type { Preferences } from '#domain/push/preferences'
import type { Platform } from '#domain/push/providers'
import type { Acknowledgement, Position } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { DeviceStore, Subscribed, SubscriptionStore } from '#domain/store-ports'
import type { FakeChannels } from '#test/support/fake-channels'

export class FakeDevices implements DeviceStore {
  readonly rows = new Map<DeviceId, Device>()
  sessions = 0
  readonly seenIds: DeviceId[] = []

  async find(deviceId: DeviceId): Promise<Device | undefined> {
    return this.rows.get(deviceId)
  }

  async numberSession(deviceId: DeviceId): Promise<number | undefined> {
    if (!this.rows.has(deviceId)) return undefined
    this.sessions += 1
    return this.sessions
  }

  readonly labels = new Map<DeviceId, string>()

  async create(deviceId: DeviceId, platform: Platform, _nowMs = 0, label?: string): Promise<void> {
    this.rows.set(deviceId, { deviceId, platform, channelType: 'private' })
    if (label !== undefined) await this.setLabel(deviceId, label)
  }

  async setLabel(deviceId: DeviceId, label: string): Promise<void> {
    this.labels.set(deviceId, label)
  }

  async remove(deviceId: DeviceId): Promise<void> {
    this.rows.delete(deviceId)
  }

  async setRoute(
    deviceId: DeviceId,
    channelType: ChannelType,
    providerToken: string | undefined,
  ): Promise<boolean> {
    const device = this.rows.get(deviceId)
    if (device === undefined) return false
    const { platform } = device
    const token = providerToken === undefined ? {} : { providerToken }
    this.rows.set(deviceId, { deviceId, platform, channelType, ...token })
    return true
  }

  async seen(deviceIds: readonly DeviceId[]): Promise<void> {
    this.seenIds.push(...deviceIds)
  }

  async retireToken(platform: Platform, providerToken: string): Promise<void> {
    for (const device of this.rows.values()) {
      if (device.platform === platform && device.providerToken === providerToken) {
        await this.setRoute(device.deviceId, 'private', undefined)
      }
    }
  }
}

export class FakeSubscriptions implements SubscriptionStore {
  readonly members = new Map<ChannelId, Set<DeviceId>>()
  readonly acknowledged: { readonly channelId: ChannelId; readonly seq: number }[] = []
  readonly #channels: FakeChannels
  readonly #devices: Pick<FakeDevices, 'labels'>

  constructor(channels: FakeChannels, devices: Pick<FakeDevices, 'labels'>) {
    this.#channels = channels
    this.#devices = devices
  }

  readonly notify = new Map<string, Preferences>()

  async setPreferences(
    deviceId: DeviceId,
    channelId: ChannelId,
    notify: Preferences,
  ): Promise<boolean> {
    const isHeld = (await this.subscribed(deviceId, channelId)) !== undefined
    if (isHeld) this.notify.set(`${channelId} ${deviceId}`, notify)
    return isHeld
  }

  async preferences(deviceId: DeviceId, channelId: ChannelId): Promise<Preferences | undefined> {
    return this.notify.get(`${channelId} ${deviceId}`) ?? {}
  }

  async subscribe(
    deviceId: DeviceId,
    channelId: ChannelId,
    _nowMs = 0,
    notify?: Preferences,
  ): Promise<Subscribed> {
    const channel = this.#channels.rows.get(channelId)
    if (channel === undefined) return { kind: 'no-channel' }
    const members = this.members.get(channelId) ?? new Set()
    const isNew = !members.has(deviceId)
    if (isNew && members.size >= SUBSCRIBERS_MAX) return { kind: 'full' }
    this.members.set(channelId, members.add(deviceId))
    if (notify !== undefined) await this.setPreferences(deviceId, channelId, notify)
    return { kind: 'subscribed', channelName: channel.channelName, isNew }
  }

  async unsubscribe(deviceId: DeviceId, channelId: ChannelId): Promise<boolean> {
    return this.members.get(channelId)?.delete(deviceId) ?? false
  }

  async keepOnly(
    deviceId: DeviceId,
    channelIds: readonly ChannelId[],
  ): Promise<readonly ChannelId[]> {
    const others = [...this.members].filter(
      ([channelId, members]) => members.has(deviceId) && !channelIds.includes(channelId),
    )
    for (const [, members] of others) members.delete(deviceId)
    return others.map(([channelId]) => channelId)
  }

  async subscribed(deviceId: DeviceId, channelId: ChannelId): Promise<NamedDevice | undefined> {
    const label = this.#devices.labels.get(deviceId)
    const device = label === undefined ? {} : { label }
    return this.members.get(channelId)?.has(deviceId) === true ? device : undefined
  }

  async subscribers(channelId: ChannelId): Promise<readonly Subscriber[]> {
    const facts = { platform: 'web', channelType: 'private', subscribedAt: 1, seenAt: 2 } as const
    return [...(this.members.get(channelId) ?? [])].map((deviceId) => ({ deviceId, ...facts }))
  }

  async positions(deviceId: DeviceId): Promise<readonly Position[]> {
    const mine = [...this.members].filter(([, members]) => members.has(deviceId))
    const start = { headSeq: 0, sinceSeq: 0, ackedSeq: 0, channelName: 'a channel' }
    return mine.map(([channelId]) => ({ channelId, ...start }))
  }

  async position(deviceId: DeviceId, channelId: ChannelId): Promise<Position | undefined> {
    const positions = await this.positions(deviceId)
    return positions.find((position) => position.channelId === channelId)
  }

  async acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void> {
    this.acknowledged.push(...acknowledgements)
  }

  async acknowledgeEntries(
    _deviceId: DeviceId,
    entries: readonly { readonly channelId: ChannelId; readonly seq: number }[],
  ): Promise<number> {
    this.acknowledged.push(...entries)
    return entries.length
  }
}
