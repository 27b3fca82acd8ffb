// Subscriptions of a device: joins and leaves channels, one at a time or as a whole list.
// (decisions.md 7)

import type { Joined, Left, NamedChannel, Preferred, Synchronised } from '#domain/administration'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Preferences } from '#domain/push/preferences'
import { isRecord } from '#domain/record'
import { CREDENTIALS_REQUEST } from '#src/schemas/channel-routes'
import { readersOf, request as readerOf } from '#src/schemas/shape'
import { SUBSCRIPTION } from '#src/schemas/subscription-routes'
import type { SyncItem } from '#src/schemas/subscription-routes'
import type { Caller } from '#src/acceptance/caller'
import { makeChannel } from './channels.ts'
import { findDevice } from '#src/acceptance/devices/device-identity'
import type { DerivedKeys } from '#src/acceptance/password-work'
import { subscriberIdOf } from './subscribers.ts'
import type { Stage } from '#src/acceptance/stage'

const READ = readersOf(SUBSCRIPTION)
const readSyncItem = readerOf(CREDENTIALS_REQUEST)

/** A device, and a channel that it may join. */
interface Joining {
  readonly deviceId: DeviceId
  readonly channelId: ChannelId
  readonly notify?: Preferences | undefined
}

/** A device that follows a channel gets everything in it. */
const TO_FOLLOW = { scope: 'read', isWhole: true } as const
const UNCLEAR = fault('channel_binding_invalid')

export class Subscriptions {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  /** By channel_id: joins the channel. By channel_name: makes a new channel and joins it. */
  async subscribe(fields: unknown, caller: Caller): Promise<Answer<Joined>> {
    const name = isRecord(fields) ? fields['channel_name'] : undefined
    const isCreated = typeof name === 'string' && name.trim() !== ''
    const found = await (isCreated ? this.#made(fields, caller) : this.#opened(fields, caller))
    if (isFault(found)) return found
    const { deviceId, channelId } = found
    const joined = await this.join(found, caller)
    if (isFault(joined)) return joined
    return { ...joined, isCreated, subscriberId: subscriberIdOf(channelId, deviceId) }
  }

  /** A new channel's password is no key, whatever its form. */
  async #made(fields: unknown, caller: Caller): Promise<Answer<Joining>> {
    const limited = caller.attempt?.end()
    if (limited !== undefined) return limited
    const request = await this.#read(fields)
    if (isFault(request)) return request
    const { deviceId, password, target, notify } = request
    if (target.kind !== 'new') return UNCLEAR
    const { channelName } = target
    const channelId = await makeChannel(this.#ports, { channelName, password }, caller)
    return isFault(channelId) ? channelId : { deviceId, channelId, notify }
  }

  async #opened(fields: unknown, caller: Caller): Promise<Answer<Joining>> {
    const opened = await this.#ports.access.open({
      fields,
      caller,
      read: async (sent) => {
        const request = await this.#read(sent)
        if (isFault(request)) return request
        const { target, ...rest } = request
        return target.kind === 'new' ? UNCLEAR : { ...rest, channelId: target.channelId }
      },
      ...TO_FOLLOW,
    })
    return isFault(opened) ? opened : opened.request
  }

  /** Reads a subscription and finds its device. */
  async #read(fields: unknown) {
    const request = READ.subscribe(fields)
    if (isFault(request)) return request
    const device = await findDevice(this.#ports.devices, request.deviceKey)
    if (isFault(device)) return device
    const { password, target, notify } = request
    return { deviceId: device.deviceId, password, target, notify }
  }

  /** Subscribes a device to a channel that it may read, and tells its session. */
  async join(
    { deviceId, channelId, notify }: Joining,
    { receivedAtMs }: Caller,
  ): Promise<Answer<NamedChannel>> {
    const { subscriptions, bus } = this.#ports
    const outcome = await subscriptions.subscribe(deviceId, channelId, receivedAtMs, notify)
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

  /** Replaces the preferences of a subscription. */
  async notify(fields: unknown, caller: Caller): Promise<Answer<Preferred>> {
    const request = READ.notify(fields)
    if (isFault(request)) return request
    const device = await findDevice(this.#ports.devices, request.deviceKey)
    if (isFault(device)) return device
    if (caller.refusal !== undefined) return caller.refusal
    const { channelId, notify } = request
    const { subscriptions } = this.#ports
    const isSet = await subscriptions.setPreferences(device.deviceId, channelId, notify)
    return isSet ? { channelId, notify } : fault('channel_not_found', { field: 'channel_id' })
  }

  async unsubscribe(fields: unknown, caller: Caller): Promise<Answer<Left>> {
    const request = READ.unsubscribe(fields)
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
    const request = READ.synchronise(fields)
    if (isFault(request)) return request
    const device = await findDevice(this.#ports.devices, request.deviceKey)
    if (isFault(device)) return device
    if (caller.refusal !== undefined) return caller.refusal
    const join = (channelId: ChannelId) =>
      this.join({ deviceId: device.deviceId, channelId }, caller)
    const ports = { ...this.#ports, join }
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

interface SyncPorts extends Stage {
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
    const { access, join } = this.#ports
    const opened = await access.open({
      fields: sent,
      caller: this.#caller,
      read: (fields) => {
        const item = readSyncItem(fields)
        return isFault(item) ? item : (this.#stopped ?? item)
      },
      ...TO_FOLLOW,
      isPart: true,
      derived: this.#derived,
    })
    if (!isFault(opened)) return join(opened.channelId)
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
