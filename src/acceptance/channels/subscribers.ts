// The devices that follow a channel, for its owner. (decisions.md 7)
//
// Invariants:
//   subscribers/1. Only a proved password lists or removes them: neither a key nor a grant is a
//                  proof.
//   subscribers/2. The id of a subscriber tells nothing of its device in another channel.

import { hash } from 'node:crypto'

import type { Left, ListedSubscribers } from '#domain/administration'
import { isFault } from '#domain/fault'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { readersOf } from '#src/schemas/shape'
import { SUBSCRIBER } from '#src/schemas/subscription-routes'
import type { Caller } from '#src/acceptance/caller'
import type { Stage } from '#src/acceptance/stage'

const READ = readersOf(SUBSCRIBER)

const ID_CHARACTERS = 32

/** The name of a device among the subscribers of one channel. (subscribers/2) */
export const subscriberIdOf = (channelId: ChannelId, deviceId: DeviceId): string =>
  hash('sha256', `${channelId} ${deviceId}`).slice(0, ID_CHARACTERS)

/** Adds to each device of a channel the id by which its owner knows it. */
export const withIds = <Device extends { readonly deviceId: DeviceId }>(
  channelId: ChannelId,
  devices: readonly Device[],
): readonly (Device & { readonly subscriberId: string })[] =>
  devices.map((device) => ({ ...device, subscriberId: subscriberIdOf(channelId, device.deviceId) }))

export class Subscribers {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  async list(fields: unknown, caller: Caller): Promise<Answer<ListedSubscribers>> {
    // subscribers/1
    const request = await this.#ports.access.prove(READ.list, fields, caller)
    if (isFault(request)) return request
    const { channelId } = request
    return { channelId, subscribers: await this.#named(channelId) }
  }

  /** Ends the subscription of a device, and tells its session. */
  async remove(fields: unknown, caller: Caller): Promise<Answer<Left>> {
    // subscribers/1
    const request = await this.#ports.access.prove(READ.remove, fields, caller)
    if (isFault(request)) return request
    const { channelId, subscriberId } = request
    const named = await this.#named(channelId)
    const found = named.find((subscriber) => subscriber.subscriberId === subscriberId)
    if (found === undefined) return { channelId, isRemoved: false }
    const { deviceId } = found
    const { subscriptions, bus, audit } = this.#ports
    const isRemoved = await subscriptions.unsubscribe(deviceId, channelId, caller.receivedAtMs)
    if (isRemoved) {
      bus.notify({ kind: 'unsubscribed', channelId, deviceId })
      audit.changed('a subscriber was removed', caller.origin, { channelId, deviceId })
    }
    return { channelId, isRemoved }
  }

  async #named(channelId: ChannelId): Promise<ListedSubscribers['subscribers']> {
    return withIds(channelId, await this.#ports.subscriptions.subscribers(channelId))
  }
}
