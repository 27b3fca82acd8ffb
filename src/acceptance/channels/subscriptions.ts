// Subscriptions of a device: joins and leaves channels, one at a time or as a whole list.
// (decisions.md 7)

import type { Joined, Left, NamedChannel, Synchronised } from '#domain/administration'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Answer, Bus } from '#domain/ports'
import type { ChannelStore, DeviceStore, SubscriptionStore } from '#domain/store-ports'
import { isRecord } from '#domain/record'
import {
  readSubscribe,
  readSync,
  readUnsubscribe,
  readSyncItem,
} from '#src/schemas/channel-requests'
import type { Subscribe, SyncItem } from '#src/schemas/channel-requests'
import type { Credentials as ChannelPassword } from '#src/schemas/values'
import type { Caller } from '#src/acceptance/caller'
import { makeChannel } from './channels.ts'
import type { ChannelAccess, Presented } from '#src/acceptance/channel-access'
import { findDevice } from '#src/acceptance/devices/device-identity'
import type { DerivedKeys, PasswordWork } from '#src/acceptance/password-work'
import { subscriberIdOf } from './subscribers.ts'

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
    const opened = await this.#ports.access.openWhole(credentials, caller, 'read', derived)
    return isFault(opened) ? opened : (caller.refusal ?? opened.channelId)
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

// One run of /channel/sync: makes a device's subscriptions equal to a list. (decisions.md 7)
//
// Invariants:
//   subscription-sync/1. The device leaves the channels that are not listed only when every item
//                        succeeded.
//   subscription-sync/2. Every wrong password counts in the password budget, so one request cannot
//                        try two thousand. The request itself counts once, unless good keys are all
//                        that it has.

interface SyncPorts {
  readonly subscriptions: Pick<SubscriptionStore, 'keepOnly'>
  readonly access: Pick<ChannelAccess, 'identify' | 'refuse'>
  readonly bus: Pick<Bus, 'notify'>
  /** Opens a channel for a device that will get everything in it. */
  readonly open: (
    credentials: ChannelPassword,
    caller: Caller,
    derived: DerivedKeys,
  ) => Promise<Answer<ChannelId>>
  /** Subscribes the device to a channel that is open. */
  readonly join: (channelId: ChannelId) => Promise<Answer<NamedChannel>>
}

const AT_ONCE_MAX = 4

const isJoined = (outcome: Answer<NamedChannel>): outcome is NamedChannel => !isFault(outcome)

class SubscriptionSync {
  readonly #ports: SyncPorts
  readonly #deviceId: DeviceId
  readonly #caller: Caller
  /** password-work/2 */
  readonly #derived: DerivedKeys = new Map()
  /** Set once the password budget is used up: the rest is not tried. (subscription-sync/2) */
  #stopped: Fault | undefined

  constructor(ports: SyncPorts, deviceId: DeviceId, caller: Caller) {
    this.#ports = ports
    this.#deviceId = deviceId
    this.#caller = caller
  }

  async run(items: readonly SyncItem[]): Promise<Synchronised> {
    const outcomes = await this.#joinAll(items)
    const joined = outcomes.filter(isJoined)
    if (joined.length === outcomes.length) await this.#leaveOthers(joined) // subscription-sync/1
    return {
      items: items.flatMap(({ channelIdText }, at) => {
        const outcome = outcomes[at]
        return outcome === undefined ? [] : [{ channelIdText, outcome }]
      }),
    }
  }

  /** The outcome of each item, a few at a time. */
  async #joinAll(items: readonly SyncItem[]): Promise<readonly Answer<NamedChannel>[]> {
    const outcomes: Answer<NamedChannel>[] = []
    const entries = items.entries()
    const work = async (): Promise<void> => {
      for (const [at, item] of entries) outcomes[at] = await this.#joinOne(item)
    }
    await Promise.all(Array.from({ length: AT_ONCE_MAX }, work))
    return outcomes
  }

  async #joinOne({ sent }: SyncItem): Promise<Answer<NamedChannel>> {
    const { access, open, join } = this.#ports
    const presented = await access.identify(sent, this.#caller)
    if (isFault(presented)) return presented
    const { fields, caller } = presented
    const credentials = readSyncItem(fields)
    if (isFault(credentials)) return credentials
    if (this.#stopped !== undefined) return this.#stopped
    const opened = isFault(caller.key)
      ? access.refuse(caller, caller.key)
      : await open(credentials, caller, this.#derived)
    if (!isFault(opened)) return join(opened)
    if (opened.code === 'rate_limited') this.#stopped = opened // subscription-sync/2
    return opened
  }

  async #leaveOthers(joined: readonly NamedChannel[]): Promise<void> {
    const deviceId = this.#deviceId
    const kept = [...new Set(joined.map(({ channelId }) => channelId))]
    const { receivedAtMs } = this.#caller
    const left = await this.#ports.subscriptions.keepOnly(deviceId, kept, receivedAtMs)
    for (const channelId of left) {
      this.#ports.bus.notify({ kind: 'unsubscribed', channelId, deviceId })
    }
  }
}
