// The port of the store for MQTT sessions that outlive their connection. Such a session is a device
// of its own: devices, subscriptions and acknowledgements keep its place in the feed.

import type { ChannelId, DeviceId, OperationId } from '#domain/identity'

/** Kept sessions of one channel. */
export const KEPT_SESSIONS_MAX = 10_000
/** Those of them that one key may have made. */
export const KEPT_SESSIONS_OF_KEY_MAX = 1_000
/**
 * Kept sessions of keys that may subscribe, of all keys of a channel and of one: the places of its
 * devices (SUBSCRIBERS_MAX) are not for whoever holds a key.
 */
export const SUBSCRIBED_OF_KEYS_MAX = 8
export const SUBSCRIBED_OF_KEY_MAX = 2

/** A connection that begins. */
export interface MqttEntry {
  readonly deviceId: DeviceId
  readonly channelId: ChannelId
  /** The key of the client; '' for the password of the channel. */
  readonly keyId: string
  /** Unix milliseconds at which the key expires, and its session with it; undefined for never. */
  readonly expiresAt: number | undefined
  /** True: the session before is forgotten. */
  readonly isClean: boolean
  /** True: the session outlives this connection. */
  readonly isKept: boolean
  readonly nowMs: number
}

/** A publish of a client that may come again: one of its packet ids at QoS 1 or 2. */
export interface Exchange {
  /** The place in which the store keeps it; a later exchange in the same place replaces it. */
  readonly slot: number
  /** 0 for an empty place. */
  readonly packetId: number
  readonly opId: OperationId
  /** Tells a publish that comes again from another one with its packet id. */
  readonly digest: string
  readonly qos: 1 | 2
}

export interface EnteredSession {
  /**
   * In milliseconds, greater than those of all earlier connections of a kept session, on whichever
   * node.
   */
  readonly number: number
  /** The session; undefined when nothing of it is kept. */
  readonly kept: KeptSession | undefined
}

interface KeptSession {
  /** True when it goes on, false for a new one. */
  readonly isPresent: boolean
  /** As `subscribe` had it. */
  readonly subscriptions: string
  readonly exchanges: readonly Exchange[]
}

/** The session of a connection; with its number it writes no more once a newer one has entered. */
export interface SessionOwner {
  readonly deviceId: DeviceId
  readonly number: number
}

export interface MqttSessionStore {
  /** Begins a connection: the session before goes on, or is forgotten. */
  enter(entry: MqttEntry): Promise<EnteredSession>
  /** Keeps the text of the subscriptions; false when a newer connection has the session. */
  subscribe(owner: SessionOwner, subscriptions: string): Promise<boolean>
  /** Keeps exchanges in their places; false when a newer connection has the session. */
  record(owner: SessionOwner, exchanges: readonly Exchange[]): Promise<boolean>
  /**
   * The connection is over: without another one the session ends at that time, or earlier with its
   * key.
   */
  leave(owner: SessionOwner, expiresAt: number | undefined): Promise<void>
}
