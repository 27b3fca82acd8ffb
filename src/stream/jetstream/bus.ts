// Implements the bus over core NATS: one subject a channel, to which only the processes with a
// session for the channel subscribe.
//
// Invariants:
//   bus/1. Announcements of one channel arrive in the order in which its owner made them.
//   bus/2. Announcements of this process reach its own listeners at once, and not a second time
//     over NATS: the server sends this connection no echo.
//   bus/3. The bus buffers nothing without a connection: a lost bus message delays delivery, and
//     the feed still has the entry.
//   bus/4. A flush ends after the server has every subscription made before it. Simultaneous
//     flushes share one round trip.
//   bus/5. A notice for one writer of the log goes to that process alone.

import type { Subscription } from '@nats-io/transport-node'
import type { Announcement } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Bus, Notice } from '#domain/ports'
import type { Logger } from '#domain/telemetry'

import { decodeAnnouncement, decodeNotice, encodeAnnouncement, encodeNotice } from './bus-text.ts'
import type { Connection, NatsPorts } from './connection.ts'

interface NatsBusPorts extends Pick<NatsPorts, 'connection' | 'meter' | 'logger'> {
  /** The name under which this process appends to the log; absent where it expects no answer. */
  readonly writer?: string
}

const PREFIX = 'heliograph'
/** Bound for the bytes of subject, headers and protocol around a payload. */
const OVERHEAD_BYTES = 1024

type Listener = (announcement: Announcement) => void

/** A channel's listeners in this process, and the subscription that serves them. */
interface ChannelSubscription {
  readonly listeners: Set<Listener>
  readonly subscription: Subscription
}

export class NatsBus implements Bus {
  readonly #connection: Connection
  readonly #logger: Logger
  readonly #prefix: string
  readonly #channels = new Map<ChannelId, ChannelSubscription>()
  readonly #noticeListeners = new Set<(notice: Notice) => void>()
  readonly #noticeSubscriptions: readonly Subscription[]
  #flush: Promise<void> | undefined
  readonly #unsent: Readonly<Record<'announcement' | 'notice', (by?: number) => void>>

  constructor({ connection, meter, logger, writer }: NatsBusPorts, prefix = PREFIX) {
    this.#connection = connection
    this.#logger = logger
    this.#prefix = prefix
    this.#unsent = {
      announcement: meter.counter('bus_unsent_total', { what: 'announcement' }),
      notice: meter.counter('bus_unsent_total', { what: 'notice' }),
    }
    const wanted = writer === undefined ? [undefined] : [undefined, writer]
    this.#noticeSubscriptions = wanted.map((each) =>
      connection.nats.subscribe(this.#noticeSubject(each), {
        callback: (error, message) => {
          if (error === null) this.#onNotice(message.string())
        },
      }),
    )
  }

  announce(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      this.#callListeners(announcement) // bus/2
      this.#send(announcement)
    }
  }

  listen(channelId: ChannelId, listener: Listener): () => void {
    const channel = this.#channels.get(channelId) ?? this.#subscribe(channelId)
    channel.listeners.add(listener)
    return () => {
      if (!channel.listeners.delete(listener) || channel.listeners.size > 0) return
      channel.subscription.unsubscribe()
      if (this.#channels.get(channelId) === channel) this.#channels.delete(channelId)
    }
  }

  /** bus/4 */
  flush(): Promise<void> {
    this.#flush ??= this.#flushSoon()
    return this.#flush
  }

  notify(notice: Notice, writer?: string): void {
    for (const listener of this.#noticeListeners) listener(notice)
    if (!this.#connection.isConnected) return this.#unsent.notice() // bus/3
    this.#connection.nats.publish(this.#noticeSubject(writer), encodeNotice(notice))
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    this.#noticeListeners.add(listener)
    return () => this.#noticeListeners.delete(listener)
  }

  /** Stops listening. The connection stays open. */
  close(): void {
    for (const subscription of this.#noticeSubscriptions) subscription.unsubscribe()
    for (const { subscription } of this.#channels.values()) subscription.unsubscribe()
    this.#channels.clear()
    this.#noticeListeners.clear()
  }

  async #flushSoon(): Promise<void> {
    await Promise.resolve()
    this.#flush = undefined
    const { nats, isConnected } = this.#connection
    // A lost connection rejects; after the reconnection every session reads the feed.
    if (isConnected) await nats.flush().catch(() => {})
  }

  #subscribe(channelId: ChannelId): ChannelSubscription {
    const subscription = this.#connection.nats.subscribe(this.#subjectOf(channelId), {
      callback: (error, message) => {
        if (error === null) this.#onAnnouncement(channelId, message.string())
      },
    })
    const channel = { listeners: new Set<Listener>(), subscription }
    this.#channels.set(channelId, channel)
    return channel
  }

  #callListeners(announcement: Announcement): void {
    for (const listener of this.#channels.get(announcement.channelId)?.listeners ?? []) {
      listener(announcement)
    }
  }

  #send(announcement: Announcement): void {
    const { nats, isConnected } = this.#connection
    if (!isConnected) return this.#unsent.announcement() // bus/3, nats-connection/2
    const bytesMax = (nats.info?.max_payload ?? OVERHEAD_BYTES) - OVERHEAD_BYTES
    const subject = this.#subjectOf(announcement.channelId)
    // bus/1: one connection publishes them, in this order.
    for (const text of encodeAnnouncement(announcement, bytesMax)) nats.publish(subject, text)
  }

  #onAnnouncement(channelId: ChannelId, text: string): void {
    const announcement = decodeAnnouncement(channelId, text)
    if (announcement !== undefined) this.#callListeners(announcement)
    else this.#logger.warn('could not read an announcement on the bus', { channelId })
  }

  #onNotice(text: string): void {
    const notice = decodeNotice(text)
    // A newer version may send notices that this one does not know.
    if (notice === undefined) return
    for (const listener of this.#noticeListeners) listener(notice)
  }

  /** bus/5 */
  #noticeSubject(writer?: string): string {
    return writer === undefined ? `${this.#prefix}.notice` : `${this.#prefix}.notice.${writer}`
  }

  #subjectOf(channelId: ChannelId): string {
    return `${this.#prefix}.feed.${channelId}`
  }
}
