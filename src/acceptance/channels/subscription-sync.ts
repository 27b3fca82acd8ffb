// One run of /channel/sync: makes a device's subscriptions equal to a list. (decisions.md 7)
//
// Invariants:
//   subscription-sync/1. The device leaves the channels that are not listed only when every item
//                        succeeded.
//   subscription-sync/2. Every wrong password counts in the password budget, so one request cannot
//                        try two thousand. The request itself counts once, unless good keys are all
//                        that it has.

import type { NamedChannel, Synchronised } from '#domain/administration'
import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { Answer, Bus } from '#domain/ports'
import type { SubscriptionStore } from '#domain/store-ports'
import { readSyncItem } from '#src/schemas/channel-requests'
import type { SyncItem } from '#src/schemas/channel-requests'
import type { Credentials as ChannelPassword } from '#src/schemas/values'
import type { Caller } from '#src/acceptance/caller'
import type { ChannelAccess } from '#src/acceptance/channel-access'
import type { DerivedKeys } from '#src/acceptance/password-work'

export interface SyncPorts {
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

export class SubscriptionSync {
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
