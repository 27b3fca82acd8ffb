// Feeds in memory: the simplest store for sessions, with which a test can compare.

import type {
  Acknowledgement,
  Announcement,
  CatchUpPage,
  CatchUpRequest,
  FeedEntry,
  Position,
} from '#domain/feed'
import { parseMessageId, parseOperationId, parseThingId } from '#domain/identity'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { DeviceStore, ReadStore, SubscriptionStore } from '#domain/store-ports'
import type { Fields, Json } from '#domain/submission'

/** A Thing of the model; deleted ones stay as tombstones until retention takes them. */
export interface ModelThing {
  readonly state: string
  readonly rev: number
  readonly seq: number
  readonly attrs: ReadonlyMap<string, Json>
}

interface ModelChannel {
  headSeq: number
  /** Messages that are kept. */
  messages: FeedEntry[]
  readonly things: Map<string, ModelThing>
  messagesRemovedTo: number
  tombstonesRemovedTo: number
}

interface Subscription {
  readonly sinceSeq: number
  ackedSeq: number
}

export class FeedModel
  implements
    Pick<ReadStore, 'catchUp'>,
    Pick<DeviceStore, 'numberSession' | 'seen'>,
    Pick<SubscriptionStore, 'positions' | 'position' | 'acknowledge'>
{
  readonly devices = new Set<DeviceId>()
  readonly seenAt = new Map<DeviceId, number>()
  readonly #sessions = new Map<DeviceId, number>()
  readonly #channels = new Map<ChannelId, ModelChannel>()
  readonly #subscriptions = new Map<string, Subscription>()

  channel(channelId: ChannelId): ModelChannel {
    const known = this.#channels.get(channelId)
    if (known !== undefined) return known
    const made: ModelChannel = {
      headSeq: 0,
      messages: [],
      things: new Map(),
      messagesRemovedTo: 0,
      tombstonesRemovedTo: 0,
    }
    this.#channels.set(channelId, made)
    return made
  }

  subscribe(deviceId: DeviceId, channelId: ChannelId): void {
    this.devices.add(deviceId)
    const key = deviceId + channelId
    if (this.#subscriptions.has(key)) return
    this.#subscriptions.set(key, { sinceSeq: this.channel(channelId).headSeq, ackedSeq: 0 })
  }

  unsubscribe(deviceId: DeviceId, channelId: ChannelId): void {
    this.#subscriptions.delete(deviceId + channelId)
  }

  commitMessage(channelId: ChannelId, payload: Fields = { title: 'a' }): Announcement {
    const channel = this.channel(channelId)
    const entry = this.#entry(channelId, {
      model: 'message',
      action: 'send',
      entityId: checked(parseMessageId((channel.headSeq + 1).toString(16).padStart(32, '0'))),
      payload: JSON.stringify(payload),
    })
    channel.messages.push(entry)
    return { channelId, entries: [entry] }
  }

  /** Sets one attr, or removes it with null; makes the Thing when there is none. */
  commitThing(channelId: ChannelId, id: string, key: string, value: Json): Announcement {
    const things = this.channel(channelId).things
    const before = things.get(id)
    const isDeleted = before === undefined || before.state === 'deleted'
    const attrs = new Map(isDeleted ? [] : before.attrs)
    if (value === null) attrs.delete(key)
    else attrs.set(key, value)
    const rev = (isDeleted ? 0 : before.rev) + 1
    const action = isDeleted ? 'create' : 'update'
    return this.#commit(channelId, id, { state: 'active', rev, action, attrs, key, value })
  }

  deleteThing(channelId: ChannelId, id: string): Announcement | undefined {
    const before = this.channel(channelId).things.get(id)
    if (before === undefined || before.state === 'deleted') return undefined
    const { rev, attrs } = before
    return this.#commit(channelId, id, { state: 'deleted', rev: rev + 1, action: 'delete', attrs })
  }

  /** Retention takes messages and tombstones up to a seq. */
  forget(channelId: ChannelId, throughSeq: number): void {
    const channel = this.channel(channelId)
    for (const { seq } of channel.messages) {
      if (seq <= throughSeq) channel.messagesRemovedTo = Math.max(channel.messagesRemovedTo, seq)
    }
    channel.messages = channel.messages.filter(({ seq }) => seq > throughSeq)
    for (const [id, { state, seq }] of channel.things) {
      if (state !== 'deleted' || seq > throughSeq) continue
      channel.things.delete(id)
      channel.tombstonesRemovedTo = Math.max(channel.tombstonesRemovedTo, seq)
    }
  }

  liveThings(channelId: ChannelId): ReadonlyMap<string, ModelThing> {
    return new Map(
      [...this.channel(channelId).things].filter(([, { state }]) => state !== 'deleted'),
    )
  }

  async numberSession(deviceId: DeviceId): Promise<number | undefined> {
    if (!this.devices.has(deviceId)) return undefined
    const number = (this.#sessions.get(deviceId) ?? 0) + 1
    this.#sessions.set(deviceId, number)
    return number
  }

  async seen(deviceIds: readonly DeviceId[], nowMs: number): Promise<void> {
    for (const deviceId of deviceIds) this.seenAt.set(deviceId, nowMs)
  }

  async positions(deviceId: DeviceId): Promise<readonly Position[]> {
    return this.positionsNow(deviceId)
  }

  positionsNow(deviceId: DeviceId): readonly Position[] {
    return [...this.#channels.keys()].flatMap((channelId) => {
      const subscription = this.#subscriptions.get(deviceId + channelId)
      if (subscription === undefined) return []
      const { headSeq } = this.channel(channelId)
      return [{ channelId, channelName: 'a channel', headSeq, ...subscription }]
    })
  }

  async position(deviceId: DeviceId, channelId: ChannelId): Promise<Position | undefined> {
    return this.positionsNow(deviceId).find((position) => position.channelId === channelId)
  }

  async acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void> {
    for (const { deviceId, channelId, seq } of acknowledgements) {
      const subscription = this.#subscriptions.get(deviceId + channelId)
      if (subscription !== undefined) subscription.ackedSeq = Math.max(subscription.ackedSeq, seq)
    }
  }

  async catchUp(requests: readonly CatchUpRequest[]): Promise<readonly CatchUpPage[]> {
    return requests.map((request) => this.catchUpNow(request))
  }

  catchUpNow({
    channelId,
    afterSeq,
    sinceSeq,
    deletedSince = sinceSeq,
    limit,
    removedTo: told = { entries: 0, tombstones: 0 },
  }: CatchUpRequest): CatchUpPage {
    const { headSeq, messages, things, ...removed } = this.channel(channelId)
    const removedTo = {
      entries: removed.messagesRemovedTo,
      tombstones: removed.tombstonesRemovedTo,
    }
    const restart = afterSeq > 0 && removedTo.tombstones > Math.max(afterSeq, told.tombstones)
    const isGap = restart || removedTo.entries > Math.max(afterSeq, told.entries, sinceSeq)
    const to = Math.max(removedTo.entries, removedTo.tombstones)

    const missed = messages.filter(({ seq }) => seq > Math.max(afterSeq, sinceSeq))
    const from = restart ? 0 : afterSeq
    const deletedFrom = restart ? sinceSeq : deletedSince
    const changed = [...things].filter(
      ([, { seq, state }]) => seq > from && (state !== 'deleted' || seq > deletedFrom),
    )
    const entries = [...missed, ...changed.map(([id, thing]) => syncOf(channelId, id, thing))]
    entries.sort((a, b) => a.seq - b.seq)
    return {
      entries: entries.slice(0, limit),
      headSeq,
      complete: entries.length <= limit,
      removedTo,
      ...(isGap && { gap: { from: afterSeq + 1, to, restart } }),
    }
  }

  #commit(
    channelId: ChannelId,
    id: string,
    change: Omit<ModelThing, 'seq'> & {
      readonly action: FeedEntry['action']
      readonly key?: string
      readonly value?: Json
    },
  ): Announcement {
    const { state, rev, attrs, action, key, value } = change
    const payload = key === undefined ? {} : { attrs: { [key]: value } }
    const entry = this.#entry(channelId, {
      model: 'thing',
      action,
      entityId: checked(parseThingId(id)),
      state,
      rev,
      payload: JSON.stringify(payload),
    })
    this.channel(channelId).things.set(id, { state, rev, attrs, seq: entry.seq })
    return { channelId, entries: [entry] }
  }

  #entry(
    channelId: ChannelId,
    facts: Omit<FeedEntry, 'channelId' | 'seq' | 'opId' | 'acceptedAt'>,
  ): FeedEntry {
    const channel = this.channel(channelId)
    channel.headSeq += 1
    const seq = channel.headSeq
    return { channelId, seq, opId: checked(parseOperationId(`op-${seq}`)), acceptedAt: 1, ...facts }
  }
}

function syncOf(channelId: ChannelId, id: string, thing: ModelThing): FeedEntry {
  const { state, rev, seq, attrs } = thing
  return {
    channelId,
    seq,
    opId: checked(parseOperationId(`op-${seq}`)),
    model: 'thing',
    action: 'sync',
    entityId: checked(parseThingId(id)),
    state,
    rev,
    acceptedAt: 1,
    payload: JSON.stringify({ attrs: Object.fromEntries(attrs) }),
  }
}

function checked<Id>(id: Id | undefined): Id {
  if (id === undefined) throw new Error('the model made a bad id')
  return id
}
