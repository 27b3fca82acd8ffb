// Jobs of dispatch in a store: devices with a provider's route, and the calls of a worker.

import { parseDeviceId } from '#domain/identity'
import type { ChannelId, DeviceId } from '#domain/identity'
import { endedPush } from '#domain/push'
import type { ClaimedPushes, Push, PushEnding, PushRules } from '#domain/push'
import type { ProviderName } from '#domain/push/providers'
import { QUEUED, endOfQueued } from '#machines/operation'
import type { Store } from '#src/store/store'

export const RULES: PushRules = {
  providers: ['apns', 'fcm'],
  thingIntervalMs: 60_000,
  queued: QUEUED,
  ending: endOfQueued,
}

/** Milliseconds for which a claim lasts. */
export const CLAIM_MS = 30_000

/** A device id of its own for every number. */
export function deviceId(number: number): DeviceId {
  const id = parseDeviceId(number.toString(16).padStart(64, '0'))
  if (id === undefined) throw new Error('not a device id')
  return id
}

/** A subscriber of a channel that a provider reaches. */
export async function addPushDevice(
  { devices, subscriptions }: Pick<Store, 'devices' | 'subscriptions'>,
  channelId: ChannelId,
  number: number,
  provider: ProviderName = 'apns',
): Promise<DeviceId> {
  const id = deviceId(number)
  await devices.create(id, provider === 'apns' ? 'ios' : 'android', 1)
  await devices.setRoute(id, provider, `token ${number}`)
  await subscriptions.subscribe(id, channelId, 1)
  return id
}

export class Worker {
  readonly name: string
  readonly #store: Pick<Store, 'pushes'>

  constructor(store: Pick<Store, 'pushes'>, name = 'worker') {
    this.#store = store
    this.name = name
  }

  claimAll(nowMs: number, provider: ProviderName = 'apns', limit = 500): Promise<ClaimedPushes> {
    const claim = { provider, worker: this.name, limit, nowMs, untilMs: nowMs + CLAIM_MS }
    return this.pushes.claim(claim)
  }

  async claim(nowMs: number, provider: ProviderName = 'apns', limit = 500): Promise<Push[]> {
    return [...(await this.claimAll(nowMs, provider, limit)).pushes]
  }

  settle(nowMs: number, ...endings: readonly PushEnding[]) {
    return this.pushes.settle(endings, { worker: this.name, nowMs })
  }

  get pushes() {
    return this.#store.pushes
  }
}

export const delivered = (push: Push): PushEnding => ({ kind: 'delivered', push: endedPush(push) })
export const failed = (push: Push, isGone = false): PushEnding => ({
  kind: 'failed',
  push: endedPush(push),
  isGone,
})
export const deferred = (push: Push, untilMs: number, isAttempt = true): PushEnding => ({
  kind: 'deferred',
  push: endedPush(push),
  untilMs,
  isAttempt,
})

/** `token seq` of each push, in order. */
export const placesOf = (pushes: readonly Push[]): readonly string[] =>
  pushes.map(({ route, entry }) => `${route.token} ${entry.seq}`)
