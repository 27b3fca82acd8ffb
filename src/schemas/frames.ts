// The frames of the session protocol `heliograph.v1`: their names, limits and text. (decisions.md
// 10)
//
// A frame is one JSON object; its member `type` names it. The reading side stands in
// read-frames.ts.
//
// Invariants:
//   frames/1. The payload of an entry is never parsed on its way to a device: the turn that made it
//             checked and wrote it once, and the frame takes its text unchanged.
//   frames/2. Every frame of the gateway fits into FRAME_BYTES_MAX. A welcome lists at most
//             WELCOME_CHANNELS_MAX channels; the others follow at once as `subscribed` frames.

import { deliveryIdOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import type { ChannelId, DeviceKey, EntityId, OperationId } from '#domain/identity'
import type { Action, Fields, Model } from '#domain/submission'

/** WebSocket subprotocol, and the optional member `protocol` of a hello. */
export const PROTOCOL = 'heliograph.v1'
/** The path at which devices open their WebSocket. */
export const WSS_PATH = '/private/ws'
/** A frame of a device, in bytes of UTF-8. */
export const DEVICE_FRAME_BYTES_MAX = 65_536
/**
 * A frame of the gateway: attrs and other fields 64 KiB each, external_ids 16 KiB, 16 KiB of
 * envelope.
 */
export const FRAME_BYTES_MAX = 163_840
/**
 * 128 characters of name take at most 384 bytes, so 200 channels stay below FRAME_BYTES_MAX.
 * (frames/2)
 */
export const WELCOME_CHANNELS_MAX = 200
/** The most cursors of a hello; channels beyond resume from their acknowledged position. */
export const HELLO_CURSORS_MAX = 1_000
/** Some of them, in a hello of 8 KiB: a gateway with many connections takes no longer one. */
export const HELLO_CURSORS_FEW = 150

/** The mark that a ping carries and its pong repeats. */
export type PingMark = string | number | undefined

export interface Hello {
  readonly kind: 'hello'
  /** A secret. */
  readonly deviceKey: DeviceKey
  /** A secret. */
  readonly gatewayToken: string | undefined
  /** The last seq that the device has of each channel it names. */
  readonly cursors: ReadonlyMap<ChannelId, number>
  /** The name that the device gives its software. */
  readonly client: string | undefined
}

export type DeviceFrame =
  | Hello
  | { readonly kind: 'ack'; readonly channelId: ChannelId; readonly seq: number }
  | { readonly kind: 'ping' | 'pong'; readonly mark: PingMark }

/** One channel of a device as a session begins with it. */
export interface SubscribedChannel {
  readonly channelId: ChannelId
  readonly channelName: string
  readonly headSeq: number
  /** The seq up to which the device knows everything; deliveries begin behind it. */
  readonly cursor: number
}

export interface Welcome {
  readonly kind: 'welcome'
  readonly sessionId: string
  readonly serverTime: number
  readonly heartbeatMs: number
  /** Milliseconds of silence after which a device may take the connection for dead. */
  readonly idleMs: number
  readonly maxFrameBytes: number
  readonly channels: readonly SubscribedChannel[]
}

/** `retention`: the entries are gone. `reset`: the cursor was ahead of the feed. */
export const GAP_REASONS = ['retention', 'reset'] as const
type GapReason = (typeof GAP_REASONS)[number]
export const UNSUBSCRIBED_REASONS = ['unsubscribed', 'channel_deleted'] as const
export type UnsubscribedReason = (typeof UNSUBSCRIBED_REASONS)[number]
/**
 * `shutdown`: this process stops. `replaced`: a newer session of the device took over; do not come
 * back. `unavailable`, `busy`: a dependency of the gateway does not answer, or too much work waits.
 * `resync`: the channel must begin anew, come back at once.
 */
export const GOAWAY_REASONS = ['shutdown', 'replaced', 'unavailable', 'busy', 'resync'] as const
export type GoawayReason = (typeof GOAWAY_REASONS)[number]

/** Entries from `from` to `to` are not delivered. */
export interface Gap {
  readonly kind: 'gap'
  readonly channelId: ChannelId
  readonly from: number
  readonly to: number
  readonly reason: GapReason
  /**
   * The device forgets the channel's Things; every live one follows as `sync`, also from before
   * `from`.
   */
  readonly restart: boolean
}

/** A feed entry as a device reads it. */
export interface Delivery {
  readonly kind: 'deliver'
  readonly channelId: ChannelId
  readonly seq: number
  readonly deliveryId: string
  readonly opId: OperationId
  readonly model: Model
  readonly action: Action
  readonly entityId: EntityId
  readonly state: string | undefined
  readonly rev: number | undefined
  readonly acceptedAt: number
  readonly payload: Fields
  /** True when it was read from the feed to catch up. */
  readonly replay: boolean
}

/**
 * Messages of the gateway about a session, written by their schemas (session/frame-schemas.ts);
 * deliveries are written by `encodeDelivery`.
 */
export type GatewayNotice =
  | Welcome
  | Gap
  | { readonly kind: 'caught-up'; readonly channelId: ChannelId; readonly seq: number }
  | ({ readonly kind: 'subscribed' } & SubscribedChannel)
  | {
      readonly kind: 'unsubscribed'
      readonly channelId: ChannelId
      readonly reason: UnsubscribedReason
    }
  | { readonly kind: 'ping' | 'pong'; readonly mark: PingMark }
  /** `code`: a FaultCode; from a later version it may be one that is not known here. */
  | { readonly kind: 'error'; readonly code: string; readonly message: string }
  | {
      readonly kind: 'goaway'
      readonly reason: GoawayReason
      readonly retryAfterMs: number | undefined
    }

export type GatewayFrame = GatewayNotice | Delivery

/**
 * The text of a `deliver` frame. Every name in it is from an alphabet without escapes, and the
 * payload is spliced in. (frames/1)
 */
export function encodeDelivery(entry: FeedEntry, mode: 'live' | 'replay'): string {
  const { channelId, seq, opId, model, action, entityId, state, rev, acceptedAt, payload } = entry
  const delivery = deliveryIdOf(channelId, seq)
  // Joined at once: of a sum of so many texts each part sum would be an object.
  return [
    `{"type":"deliver","channel_id":"`,
    channelId,
    `","seq":`,
    seq,
    `,"delivery_id":"`,
    delivery,
    `","op_id":"`,
    opId,
    `","model":"`,
    model,
    `","action":"`,
    action,
    `","entity_id":"`,
    entityId,
    state === undefined ? '"' : `","state":"${state}"`,
    rev === undefined ? '' : `,"rev":${rev}`,
    `,"accepted_at":`,
    acceptedAt,
    mode === 'replay' ? `,"replay":true,"payload":` : `,"payload":`,
    payload,
    '}',
  ].join('')
}

/** The text of a device's frame. */
export function encodeDeviceFrame(frame: DeviceFrame): string {
  switch (frame.kind) {
    case 'hello':
      return JSON.stringify({
        type: 'hello',
        protocol: PROTOCOL,
        device_key: frame.deviceKey,
        gateway_token: frame.gatewayToken,
        ...(frame.cursors.size > 0 && { cursors: Object.fromEntries(frame.cursors) }),
        client: frame.client,
      })
    case 'ack':
      return JSON.stringify({ type: 'ack', channel_id: frame.channelId, seq: frame.seq })
    case 'ping':
    case 'pong':
      break
  }
  return JSON.stringify({ type: frame.kind, t: frame.mark })
}
