// Subscriptions of a device: joins and leaves channels, one at a time or as a whole list.
// (decisions.md 7)

import type { Joined, Left, NamedChannel, Synchronised } from '#domain/administration'
import { fault, isFault } from '#domain/fault'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Answer, Bus } from '#domain/ports'
import type { ChannelStore, DeviceStore, SubscriptionStore } from '#domain/store-ports'
import { isRecord } from '#domain/record'
import { readSubscribe, readSync, readUnsubscribe } from '#src/schemas/channel-requests'
import type { Subscribe } from '#src/schemas/channel-requests'
import type { Credentials as ChannelPassword } from '#src/schemas/values'
import type { Caller } from '#src/acceptance/caller'
import { makeChannel } from './channel-creation.ts'
import type { ChannelAccess, Presented } from '#src/acceptance/channel-access'
import { wholeRefusal } from '#src/acceptance/key-rights'
import { findDevice } from '#src/acceptance/devices/device-identity'
import type { DerivedKeys, PasswordWork } from '#src/acceptance/password-work'
import { subscriberIdOf } from './subscribers.ts'
import { SubscriptionSync } from './subscription-sync.ts'

export interface SubscriptionPorts {
  readonly subscriptions: Pick<SubscriptionStore, 'subscribe' | 'unsubscribe' | 'keepOnly'>
  readonly devices: Pick<DeviceStore, 'find'>
  readonly channels: Pick<ChannelStore, 'create'>
  readonly access: ChannelAccess
  readonly work: PasswordWork
  readonly bus: Pick<Bus, 'notify'>
  readonly newHex32: () => string
  readonly refusesCommon: boolean
}

export class Subscriptions {
  readonly #ports: SubscriptionPorts

  constructor(ports: SubscriptionPorts) {
    this.#ports = ports
  }

  /** By channel_id: joins the channel. By channel_name: makes a new channel and joins it. */
  async subscribe(sent: unknown, from: Caller): Promise<Answer<Joined>> {
    const presented = await this.#presented(sent, from)
    if (isFault(presented)) return presented
    const { fields, caller } = presented
    const request = readSubscribe(fields)
    if (isFault(request)) return request
    const device = await findDevice(this.#ports.devices, request.deviceKey)
    if (isFault(device)) return device
    const channelId = await this.#channelOf(request, caller)
    if (isFault(channelId)) return channelId
    const joined = await this.join(device.deviceId, channelId, caller)
    if (isFault(joined)) return joined
    const subscriberId = subscriberIdOf(channelId, device.deviceId)
    return { ...joined, isCreated: request.target.kind === 'new', subscriberId }
  }

  /** A new channel's password is no key, whatever its form. */
  #presented(fields: unknown, caller: Caller): Answer<Presented> | Promise<Answer<Presented>> {
    const { access } = this.#ports
    const name = isRecord(fields) ? fields['channel_name'] : undefined
    const makesOne = typeof name === 'string' && name.trim() !== ''
    if (!makesOne) return access.present(fields, caller)
    return caller.attempt?.end() ?? { fields, caller }
  }

  async #channelOf({ target, password }: Subscribe, caller: Caller): Promise<Answer<ChannelId>> {
    if (target.kind === 'new') {
      return makeChannel(this.#ports, { channelName: target.channelName, password }, caller)
    }
    return this.openWhole({ channelId: target.channelId, password }, caller)
  }

  /** Opens a channel for a device that will get everything in it. */
  async openWhole(
    credentials: ChannelPassword,
    caller: Caller,
    derived?: DerivedKeys,
  ): Promise<Answer<ChannelId>> {
    const { access } = this.#ports
    const opened = await access.open(credentials, caller, 'read', derived)
    if (isFault(opened)) return opened
    const refusal = opened.key && wholeRefusal(opened.key)
    if (refusal !== undefined) return access.refuse(caller, refusal)
    return caller.refusal ?? opened.channelId
  }

  /** Subscribes a device to a channel that it may read, and tells its session. */
  async join(
    deviceId: DeviceId,
    channelId: ChannelId,
    { receivedAtMs }: Caller,
  ): Promise<Answer<NamedChannel>> {
    const { subscriptions, bus } = this.#ports
    const outcome = await subscriptions.subscribe(deviceId, channelId, receivedAtMs)
    switch (outcome.kind) {
      case 'subscribed':
        if (outcome.isNew) bus.notify({ kind: 'subscribed', channelId, deviceId })
        return { channelId, channelName: outcome.channelName }
      case 'full':
        return fault('channel_subscriber_limit_exceeded')
      case 'no-channel':
        return fault('channel_not_found')
      case 'no-device':
        return fault('device_key_not_found', { field: 'device_key' })
    }
  }

  async unsubscribe(fields: unknown, caller: Caller): Promise<Answer<Left>> {
    const request = readUnsubscribe(fields)
    if (isFault(request)) return request
    const device = await findDevice(this.#ports.devices, request.deviceKey)
    if (isFault(device)) return device
    if (caller.refusal !== undefined) return caller.refusal
    const { channelId } = request
    const { deviceId } = device
    const { subscriptions } = this.#ports
    const isRemoved = await subscriptions.unsubscribe(deviceId, channelId, caller.receivedAtMs)
    if (isRemoved) this.#ports.bus.notify({ kind: 'unsubscribed', channelId, deviceId })
    return { channelId, isRemoved }
  }

  /** Makes the subscriptions of a device equal to a list. */
  async synchronise(fields: unknown, caller: Caller): Promise<Answer<Synchronised>> {
    const request = readSync(fields)
    if (isFault(request)) return request
    const device = await findDevice(this.#ports.devices, request.deviceKey)
    if (isFault(device)) return device
    if (caller.refusal !== undefined) return caller.refusal
    const { subscriptions, access, bus } = this.#ports
    const ports = {
      subscriptions,
      access,
      bus,
      open: this.openWhole.bind(this),
      join: (channelId: ChannelId) => this.join(device.deviceId, channelId, caller),
    }
    return new SubscriptionSync(ports, device.deviceId, caller).run(request.items)
  }
}
