// The bus over core NATS: one subject a channel; only processes with a session for it subscribe.
//
// Invariants:
//   bus/1. Announcements of one channel arrive in the order in which its owner made them.
//   bus/2. Announcements of this process reach its own listeners at once, and not a second time
//     over NATS: the connection takes no echo.
//   bus/3. Nothing is kept for a server that is away: losing a bus message costs time, never truth.
//   bus/4. A flush ends after the server has every subscription that was made before it.
//     Simultaneous flushes share one round trip.

import type { Subscription } from '@nats-io/transport-node'
import type { Announcement } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Bus, Notice } from '#domain/ports'
import type { Logger, Meter } from '#domain/telemetry'

import { decodeAnnouncement, decodeNotice, encodeAnnouncement, encodeNotice } from './bus-text.ts'
import type { Connection } from './connection.ts'

export interface NatsBusPorts {
  readonly connection: Connection
  readonly meter: Meter
  readonly logger: Logger
}

const PREFIX = 'heliograph'
/** Bytes of subject, headers and protocol around a payload. */
const OVERHEAD_BYTES = 1024

type Listener = (announcement: Announcement) => void

/** A channel that has listeners in this process. */
interface Listened {
  readonly listeners: Set<Listener>
  readonly subscription: Subscription
}

export class NatsBus implements Bus {
  readonly #connection: Connection
  readonly #logger: Logger
  readonly #prefix: string
  readonly #channels = new Map<ChannelId, Listened>()
  readonly #noticeListeners = new Set<(notice: Notice) => void>()
  readonly #noticeSubscription: Subscription
  #flush: Promise<void> | undefined
  readonly #unsent: Readonly<Record<'announcement' | 'notice', (by?: number) => void>>

  constructor({ connection, meter, logger }: NatsBusPorts, prefix = PREFIX) {
    this.#connection = connection
    this.#logger = logger
    this.#prefix = prefix
    this.#unsent = {
      announcement: meter.counter('bus_unsent_total', { what: 'announcement' }),
      notice: meter.counter('bus_unsent_total', { what: 'notice' }),
    }
    this.#noticeSubscription = connection.nats.subscribe(`${prefix}.notice`, {
      callback: (error, message) => {
        if (error === null) this.#onNotice(message.string())
      },
    })
  }

  announce(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      this.#tell(announcement) // bus/2
      this.#send(announcement)
    }
  }

  listen(channelId: ChannelId, listener: Listener): () => void {
    const listened = this.#channels.get(channelId) ?? this.#subscribe(channelId)
    listened.listeners.add(listener)
    return () => {
      if (!listened.listeners.delete(listener) || listened.listeners.size > 0) return
      listened.subscription.unsubscribe()
      if (this.#channels.get(channelId) === listened) this.#channels.delete(channelId)
    }
  }

  /** bus/4 */
  flush(): Promise<void> {
    this.#flush ??= this.#flushSoon()
    return this.#flush
  }

  notify(notice: Notice): void {
    for (const listener of this.#noticeListeners) listener(notice)
    if (!this.#connection.isConnected) return this.#unsent.notice() // bus/3
    this.#connection.nats.publish(`${this.#prefix}.notice`, encodeNotice(notice))
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    this.#noticeListeners.add(listener)
    return () => this.#noticeListeners.delete(listener)
  }

  /** Stops listening. The connection stays open. */
  close(): void {
    this.#noticeSubscription.unsubscribe()
    for (const { subscription } of this.#channels.values()) subscription.unsubscribe()
    this.#channels.clear()
    this.#noticeListeners.clear()
  }

  async #flushSoon(): Promise<void> {
    await Promise.resolve()
    this.#flush = undefined
    const { nats, isConnected } = this.#connection
    // A lost connection rejects; once it is back every session reads the feed.
    if (isConnected) await nats.flush().catch(() => {})
  }

  #subscribe(channelId: ChannelId): Listened {
    const subscription = this.#connection.nats.subscribe(this.#subjectOf(channelId), {
      callback: (error, message) => {
        if (error === null) this.#onAnnouncement(channelId, message.string())
      },
    })
    const listened = { listeners: new Set<Listener>(), subscription }
    this.#channels.set(channelId, listened)
    return listened
  }

  #tell(announcement: Announcement): void {
    for (const listener of this.#channels.get(announcement.channelId)?.listeners ?? []) {
      listener(announcement)
    }
  }

  #send(announcement: Announcement): void {
    const { nats, isConnected } = this.#connection
    if (!isConnected) return this.#unsent.announcement() // bus/3
    const bytesMax = (nats.info?.max_payload ?? OVERHEAD_BYTES) - OVERHEAD_BYTES
    const subject = this.#subjectOf(announcement.channelId)
    for (const text of encodeAnnouncement(announcement, bytesMax)) nats.publish(subject, text)
  }

  #onAnnouncement(channelId: ChannelId, text: string): void {
    const announcement = decodeAnnouncement(channelId, text)
    if (announcement !== undefined) this.#tell(announcement)
    else this.#logger.warn('an announcement on the bus could not be read', { channelId })
  }

  #onNotice(text: string): void {
    const notice = decodeNotice(text)
    // A newer version may know notices that this one does not.
    if (notice === undefined) return
    for (const listener of this.#noticeListeners) listener(notice)
  }

  #subjectOf(channelId: ChannelId): string {
    return `${this.#prefix}.feed.${channelId}`
  }
}
