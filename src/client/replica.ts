// Keeps a local copy of the Things of a device's channels equal to the gateway's.
//
// Invariants:
//   replica/1. When a channel is caught up, its Things equal the gateway's at the channel's
//     position: the replica applies every effective patch once, in the order of seq.
//   replica/2. A program that resumes from a saved position has no Things yet: it reads them from
//     the gateway before it takes deliveries.
//   replica/3. The replica may miss a Thing that changed while it read the others. A patch with a
//     revision beyond the first shows that, and the replica then reads the whole Thing.

import type { ChannelId } from '#domain/identity'
import { parseChannelId } from '#domain/identity'
import type { SubscribedChannel, Delivery, Gap } from '#src/schemas/frames'
import type { Reader, ThingRecord } from './bodies.ts'
import { createClient } from './client.ts'
import type { Client } from './client.ts'
import { HeliographError } from './error.ts'
import type { Handlers } from './intake.ts'
import { WEB } from './runtime.ts'
import { ThingsView, thingFrom } from './view.ts'
import type { ThingView } from './view.ts'
import { watch } from './watch.ts'
import type { DeviceOptions, Watch } from './watch.ts'

/** Handlers see the replica after the change that they get. */
export type ReplicaOptions = DeviceOptions &
  Partial<Handlers> & {
    /** The address of the gateway, from which the replica reads Things. */
    readonly baseUrl: string
    /**
     * The password or the key by which it reads a channel; the device key where there is none.
     * Reads by a channel's key count in no budget of the gateway.
     */
    readonly secretOf?: (channelId: string) => string | undefined
  }

/** A change of one Thing; `after` is undefined for one that is deleted or no longer known. */
export interface ThingChanged {
  readonly channelId: string
  readonly id: string
  readonly before: ThingView | undefined
  readonly after: ThingView | undefined
}

export type ThingListener = (change: ThingChanged) => void

export interface Replica {
  /** A Thing that is not deleted. All throw TypeError for a channel_id of the wrong form. */
  thing(channelId: string, id: string): ThingView | undefined
  /** The Things of a channel by id. */
  things(channelId: string): ReadonlyMap<string, ThingView>
  /**
   * Resolves once the channel has been caught up since the start of the replica. Rejects when the
   * session ends for good before that.
   */
  caughtUp(channelId: string): Promise<void>
  /**
   * Calls the listener after every change. Gives a function that ends this. Errors that a listener
   * throws become uncaught errors.
   */
  onChange(listener: ThingListener): () => void
  readonly watch: Watch
  /** Ends the session; the Things stay as they are. */
  close(): Promise<void>
}

/** Opens the session of a device and keeps a copy of its Things. */
export const openReplica = (options: ReplicaOptions): Replica => new LiveReplica(options)

const PAGE_LIMIT = 200

class LiveReplica implements Replica {
  readonly watch: Watch
  readonly #options: ReplicaOptions
  readonly #client: Client
  readonly #closing = new AbortController()
  readonly #view = new ThingsView()
  readonly #listeners = new Set<ThingListener>()
  /** Channels whose Things the view has. */
  readonly #known = new Set<ChannelId>()
  readonly #caughtUp = new Map<ChannelId, PromiseWithResolvers<void>>()

  constructor(options: ReplicaOptions) {
    const { baseUrl, token, runtime } = options
    this.#options = options
    this.#client = createClient({ baseUrl, token, ...(runtime !== undefined && { runtime }) })
    this.watch = watch({
      ...options,
      onChannel: (channel) => this.#begin(channel),
      onEntry: (delivery) => this.#deliver(delivery),
      onGap: (gap) => this.#gap(gap),
      onCaughtUp: (channelId, seq) => this.#reached(channelId, seq),
      onUnsubscribed: (channelId) => this.#leave(channelId),
    })
  }

  thing(channelId: string, id: string): ThingView | undefined {
    return this.#view.thing(channelIdOf(channelId), id)
  }

  things(channelId: string): ReadonlyMap<string, ThingView> {
    return this.#view.things(channelIdOf(channelId))
  }

  async caughtUp(channelId: string): Promise<void> {
    const isOver = await Promise.race([
      this.#whenCaughtUp(channelIdOf(channelId)).promise,
      this.watch.ended,
    ])
    if (isOver !== undefined) throw new Error(`the session is over: ${isOver.kind}`)
  }

  onChange(listener: ThingListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#closing.abort(new Error('the replica was closed'))
    return this.watch.close()
  }

  /** The options of reads, which end with the replica. */
  get #call() {
    return { signal: this.#closing.signal }
  }

  async #begin(channel: SubscribedChannel): Promise<void> {
    const { channelId, cursor } = channel
    // From the position 0 the gateway delivers every Thing.
    if (cursor > 0 && !this.#known.has(channelId)) await this.#read(channelId) // replica/2
    this.#known.add(channelId)
    await this.#options.onChannel?.(channel)
  }

  async #read(channelId: ChannelId): Promise<void> {
    const reader = this.#readerOf(channelId)
    let cursor: string | undefined
    do {
      const query = { ...reader, limit: PAGE_LIMIT, ...(cursor !== undefined && { cursor }) }
      const page = await this.#client.thing.list(query, this.#call)
      for (const record of page.items) this.#put(channelId, record)
      cursor = page.next_cursor
    } while (cursor !== undefined)
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { channelId, entityId, model } = delivery
    if (model !== 'thing') this.#view.apply(delivery)
    else if (this.#lacksThing(delivery)) await this.#readOne(delivery) // replica/3
    else this.#changing(channelId, entityId, () => this.#view.apply(delivery)) // replica/1
    await this.#options.onEntry?.(delivery)
  }

  /** True for a patch of a Thing that the view does not have. */
  #lacksThing({ channelId, entityId, action, state, rev = 1 }: Delivery): boolean {
    if (this.#view.thing(channelId, entityId) !== undefined) return false
    return action !== 'sync' && state !== 'deleted' && rev > 1
  }

  async #readOne({ channelId, entityId }: Delivery): Promise<void> {
    const wanted = { ...this.#readerOf(channelId), thing_id: entityId }
    const record = await this.#client.thing.get(wanted, this.#call).catch(undefinedIfDeleted)
    if (record !== undefined) this.#put(channelId, record)
  }

  #readerOf(channelId: ChannelId): Reader {
    const { secretOf, deviceKey } = this.#options
    const password = secretOf?.(channelId)
    return password === undefined
      ? { channel_id: channelId, device_key: deviceKey }
      : { channel_id: channelId, password }
  }

  #put(channelId: ChannelId, record: ThingRecord): void {
    const thing = thingFrom(record)
    this.#changing(channelId, thing.id, () => this.#view.put(channelId, thing))
  }

  async #gap(gap: Gap): Promise<void> {
    if (gap.restart) this.#known.add(gap.channelId) // All live Things follow.
    const forgotten = this.#view.things(gap.channelId)
    this.#view.apply(gap)
    if (gap.restart) this.#forgot(gap.channelId, forgotten)
    await this.#options.onGap?.(gap)
  }

  async #reached(channelId: ChannelId, seq: number): Promise<void> {
    this.#view.apply({ kind: 'caught-up', channelId, seq })
    this.#whenCaughtUp(channelId).resolve()
    await this.#options.onCaughtUp?.(channelId, seq)
  }

  async #leave(channelId: ChannelId): Promise<void> {
    const forgotten = this.#view.things(channelId)
    this.#view.apply({ kind: 'unsubscribed', channelId, reason: 'unsubscribed' })
    this.#known.delete(channelId)
    this.#caughtUp.delete(channelId)
    this.#forgot(channelId, forgotten)
    await this.#options.onUnsubscribed?.(channelId)
  }

  #whenCaughtUp(channelId: ChannelId): PromiseWithResolvers<void> {
    const known = this.#caughtUp.get(channelId) ?? Promise.withResolvers<void>()
    this.#caughtUp.set(channelId, known)
    return known
  }

  #changing(channelId: ChannelId, id: string, change: () => void): void {
    const before = this.#view.thing(channelId, id)
    change()
    const after = this.#view.thing(channelId, id)
    if (before !== after) this.#notify({ channelId, id, before, after })
  }

  #forgot(channelId: ChannelId, things: ReadonlyMap<string, ThingView>): void {
    for (const [id, before] of things) this.#notify({ channelId, id, before, after: undefined })
  }

  #notify(change: ThingChanged): void {
    const { report } = this.#options.runtime ?? WEB
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        report(error)
      }
    }
  }
}

function channelIdOf(text: string): ChannelId {
  const channelId = parseChannelId(text)
  if (channelId === undefined) throw new TypeError('not a channel_id')
  return channelId
}

/** Undefined for a Thing that was deleted meanwhile, whose deletion follows. */
function undefinedIfDeleted(error: unknown): undefined {
  if (error instanceof HeliographError && error.code === 'entity_not_found') return undefined
  throw error
}
