// The stores of ingress, in memory.

import { SUBSCRIBERS_MAX } from '#domain/channel'
import { CHANNEL_KEYS_MAX } from '#domain/channel-keys'
import type { ChannelCredentials, ChannelInfo, NewChannel } from '#domain/channel'
import type { ChannelType, Device, Platform } from '#domain/device'
import type { Event, Thing } from '#domain/entity'
import type { Acknowledgement, CatchUpPage, FeedEntry, Position } from '#domain/feed'
import type { ChannelId, DeviceId, OperationId } from '#domain/identity'
import type { Claim, ClaimOutcome, Operation } from '#domain/operation'
import type { ChannelKey, ChannelKeyStore, NewChannelKey } from '#domain/channel-keys'
import type {
  ChannelStore,
  DeviceStore,
  EntityQuery,
  HistoryQuery,
  OperationStore,
  Page,
  ReadStore,
  Subscribed,
  SubscriptionStore,
} from '#domain/store-ports'

export class FakeChannels implements ChannelStore {
  readonly rows = new Map<ChannelId, NewChannel>()
  salt: string | undefined
  /** The number of reads of credentials. */
  reads = 0
  /** Called before credentials are given, for events that a test wants to happen meanwhile. */
  meanwhile: () => void | Promise<void> = () => {}

  async credentials(channelId: ChannelId): Promise<ChannelCredentials | undefined> {
    this.reads += 1
    const row = this.rows.get(channelId)
    await this.meanwhile()
    return row
  }

  async create(channel: NewChannel): Promise<void> {
    this.rows.set(channel.channelId, channel)
  }

  async rename(channelId: ChannelId, channelName: string): Promise<boolean> {
    return this.#change(channelId, { channelName })
  }

  async changePassword(
    channelId: ChannelId,
    previousHash: string,
    passwordHash: string,
  ): Promise<boolean> {
    if (this.rows.get(channelId)?.passwordHash !== previousHash) return false
    return this.#change(channelId, { passwordHash })
  }

  async passwordSalt(first: string): Promise<string> {
    this.salt ??= first
    return this.salt
  }

  async delete(channelId: ChannelId): Promise<boolean> {
    return this.rows.delete(channelId)
  }

  async info(channelId: ChannelId): Promise<ChannelInfo | undefined> {
    const row = this.rows.get(channelId)
    if (row === undefined) return undefined
    const { channelName, createdAt } = row
    const counts = { subscribers: 1, headSeq: 7, things: 2, openEvents: 3 }
    return { channelId, channelName, createdAt, ...counts }
  }

  async exists(channelId: ChannelId): Promise<boolean> {
    return this.rows.has(channelId)
  }

  #change(channelId: ChannelId, change: Partial<NewChannel>): boolean {
    const row = this.rows.get(channelId)
    if (row !== undefined) this.rows.set(channelId, { ...row, ...change })
    return row !== undefined
  }
}

export class FakeChannelKeys implements ChannelKeyStore {
  readonly rows: NewChannelKey[] = []
  readonly #channels: FakeChannels

  constructor(channels: FakeChannels) {
    this.#channels = channels
  }

  async create(key: NewChannelKey): Promise<'created' | 'full' | 'no-channel'> {
    if (!this.#isGood(key)) return 'no-channel'
    if ((await this.list(key.channelId)).length === CHANNEL_KEYS_MAX) return 'full'
    this.rows.push(key)
    return 'created'
  }

  async find(keyHash: string): Promise<ChannelId | undefined> {
    return this.rows.find((key) => key.keyHash === keyHash && this.#isGood(key))?.channelId
  }

  async list(channelId: ChannelId): Promise<readonly ChannelKey[]> {
    return this.rows
      .filter((key) => key.channelId === channelId && this.#isGood(key))
      .map(({ keyId, label, createdAt }) => ({ keyId, label, createdAt }))
  }

  async revoke(channelId: ChannelId, keyId: string): Promise<boolean> {
    const at = this.rows.findIndex((key) => key.channelId === channelId && key.keyId === keyId)
    if (at !== -1) this.rows.splice(at, 1)
    return at !== -1
  }

  #isGood({ channelId, passwordHash }: NewChannelKey): boolean {
    return this.#channels.rows.get(channelId)?.passwordHash === passwordHash
  }
}

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

  async create(deviceId: DeviceId, platform: Platform): Promise<void> {
    this.rows.set(deviceId, { deviceId, platform, channelType: 'private' })
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

  constructor(channels: FakeChannels) {
    this.#channels = channels
  }

  async subscribe(deviceId: DeviceId, channelId: ChannelId): Promise<Subscribed> {
    const channel = this.#channels.rows.get(channelId)
    if (channel === undefined) return { kind: 'no-channel' }
    const members = this.members.get(channelId) ?? new Set()
    const isNew = !members.has(deviceId)
    if (isNew && members.size >= SUBSCRIBERS_MAX) return { kind: 'full' }
    this.members.set(channelId, members.add(deviceId))
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

  async isSubscribed(deviceId: DeviceId, channelId: ChannelId): Promise<boolean> {
    return this.members.get(channelId)?.has(deviceId) ?? false
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

export class FakeReads implements ReadStore {
  keptThings: Thing[] = []
  keptEvents: Event[] = []
  entries: FeedEntry[] = []
  next: number | undefined = undefined
  readonly queries: (EntityQuery | HistoryQuery)[] = []

  async thing(_channelId: ChannelId, id: string): Promise<Thing | undefined> {
    return this.keptThings.find((thing) => thing.id === id)
  }

  async event(_channelId: ChannelId, id: string): Promise<Event | undefined> {
    return this.keptEvents.find((event) => event.id === id)
  }

  async things(query: EntityQuery): Promise<Page<Thing>> {
    this.queries.push(query)
    return this.#page(this.keptThings)
  }

  async events(query: EntityQuery): Promise<Page<Event>> {
    this.queries.push(query)
    return this.#page(this.keptEvents)
  }

  async history(query: HistoryQuery): Promise<Page<FeedEntry>> {
    this.queries.push(query)
    const { channelId, afterSeq = 0, sinceMs = 0, model } = query
    return this.#page(
      this.entries.filter(
        (entry) =>
          entry.channelId === channelId &&
          entry.seq > afterSeq &&
          entry.acceptedAt >= sinceMs &&
          (model === undefined || entry.model === model),
      ),
    )
  }

  async catchUp(): Promise<readonly CatchUpPage[]> {
    return [{ entries: this.entries, headSeq: this.entries.length, complete: true }]
  }

  async pull(): Promise<{ readonly items: readonly FeedEntry[]; readonly hasMore: boolean }> {
    return { items: this.entries, hasMore: this.next !== undefined }
  }

  #page<Item>(items: readonly Item[]): Page<Item> {
    return this.next === undefined ? { items } : { items, next: this.next }
  }
}

export class FakeOperations implements OperationStore {
  readonly rows = new Map<OperationId, Operation>()
  readonly claims = new Map<OperationId, Claim>()

  async find(opId: OperationId): Promise<Operation | undefined> {
    return this.rows.get(opId)
  }

  async claim(claim: Claim, expiredBefore: number, isPending = false): Promise<ClaimOutcome> {
    const first = this.claims.get(claim.opId)
    if (first === undefined && isPending) return { kind: 'conflict', code: 'op_id_scope_conflict' }
    if (first === undefined || first.claimedAt < expiredBefore) {
      this.claims.set(claim.opId, claim)
      return { kind: 'fresh' }
    }
    if (first.channelId !== claim.channelId || first.thingId !== claim.thingId) {
      return { kind: 'conflict', code: 'op_id_scope_conflict' }
    }
    if (first.contentHash !== claim.contentHash) {
      return { kind: 'conflict', code: 'op_id_payload_conflict' }
    }
    return { kind: 'repeat', first, applied: this.rows.has(claim.opId) }
  }
}
