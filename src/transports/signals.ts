// The inputs and outputs of a session: the interface between the protocol (session.ts, without I/O)
// and the connection that performs it (connection.ts).

import type { FaultCode } from '#domain/fault'
import type { CatchUpPage, CatchUpRequest, FeedEntry, Position } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { ChannelRenamed } from '#domain/ports'
import type { BrokenRule } from './carrier.ts'
import type { GoawayReason, Hello, UnsubscribedReason } from '#src/schemas/frames'

/** A feed entry as the text of its `deliver` frame, which all sessions share. */
export interface Frame {
  readonly seq: number
  readonly text: string
  /** Bytes of the text in UTF-8. */
  readonly bytes: number
  /** Whether it was announced, or read from the feed. */
  readonly mode: 'live' | 'replay'
  /** The entry itself, for a carrier that has words of its own and no text. */
  readonly entry?: FeedEntry
}

/** An announcement of a channel, as frames. */
export interface News {
  readonly channelId: ChannelId
  /** In seq order. */
  readonly frames: readonly Frame[]
  /** The feed reaches at least this seq: beyond the last frame when the bus left entries out. */
  readonly headSeq: number
}

/** A catch-up page whose entries are frames already. */
export interface FramePage extends Pick<CatchUpPage, 'headSeq' | 'complete' | 'gap' | 'removedTo'> {
  readonly frames: readonly Frame[]
  /** True for every entry of a stretch; the feed gives each changed Thing once. */
  readonly isEachEntry?: true
}

export interface PageRequest extends CatchUpRequest {
  /** True when the session has had every change up to `afterSeq`. (serving/6) */
  readonly hasEveryChange: boolean
}

export type Input =
  /** Text from the device. */
  | { readonly kind: 'received'; readonly text: string }
  | {
      readonly kind: 'admitted'
      readonly sessionId: string
      /** The time for the device: Unix milliseconds by the gateway's clock. */
      readonly serverTime: number
      readonly positions: readonly Position[]
    }
  | { readonly kind: 'refused'; readonly code: FaultCode }
  /** New entries of a channel, in seq order. A hint: it may be lost, repeated or late. */
  | ({ readonly kind: 'announced' } & News)
  /** Pages of the first channels of the read with this ticket, in its order. */
  | { readonly kind: 'pages'; readonly ticket: number; readonly pages: readonly FramePage[] }
  /** The connection could not read now; the session tries again after the next tick. */
  | { readonly kind: 'postponed'; readonly ticket: number }
  | { readonly kind: 'subscribed'; readonly position: Position }
  | {
      readonly kind: 'unsubscribed'
      readonly channelId: ChannelId
      readonly reason: UnsubscribedReason
    }
  | ChannelRenamed
  /** The present positions of the device's channels, which reveal what the bus has lost. */
  | { readonly kind: 'positions'; readonly positions: readonly Position[] }
  | { readonly kind: 'tick' }
  /** Bytes that the carrier still holds. */
  | { readonly kind: 'buffered'; readonly bytes: number }
  | { readonly kind: 'leave'; readonly reason: GoawayReason; readonly retryAfterMs?: number }
  /** The device broke a rule before there was a text to read. */
  | { readonly kind: 'broken'; readonly rule: BrokenRule }
  /** The carrier is gone. */
  | { readonly kind: 'gone' }

export type Output =
  | { readonly kind: 'send'; readonly text: string }
  | { readonly kind: 'deliver'; readonly frame: Frame }
  /** Check the credentials and load the positions. The answer is `admitted` or `refused`. */
  | { readonly kind: 'admit'; readonly hello: Hello }
  /** Read pages of the feed. The answer is `pages` or `postponed` with the same ticket. */
  | {
      readonly kind: 'read-pages'
      readonly ticket: number
      readonly requests: readonly PageRequest[]
      /** Bytes of content that all pages together may have. */
      readonly bytes: number
    }
  /** Read the positions. The answer is `positions`. */
  | { readonly kind: 'read-positions' }
  | { readonly kind: 'acknowledge'; readonly channelId: ChannelId; readonly seq: number }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }

/** Outputs that need the store: work for the connection. */
export type Effect = Exclude<Output, { readonly kind: 'send' | 'close' | 'deliver' }>
export type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { readonly kind: Kind }>

/**
 * Entries and bytes of a connection, unacknowledged or buffered. Beyond either the session pushes
 * nothing. (decisions.md 10)
 */
export const WINDOW_ENTRIES_MAX = 256
export const WINDOW_BYTES_MAX = 1_048_576
/** Reads of one session that may run at once. */
export const READS_AT_ONCE_MAX = 2
/** The most entries of one read, and bytes of their content: together the reads fit a window. */
export const READ_ENTRIES_MAX = WINDOW_ENTRIES_MAX / READS_AT_ONCE_MAX
export const READ_BYTES_MAX = WINDOW_BYTES_MAX / READS_AT_ONCE_MAX
/** The most channels of one read. */
export const READ_CHANNELS_MAX = 64

export const HELLO_WITHIN_MS = 8_000
/** Milliseconds from a hello to its welcome; after that the store counts as unavailable. */
export const ADMIT_WITHIN_MS = 30_000
export const HEARTBEAT_MS = 25_000
export const MISSED_PINGS_MAX = 2
export const IDLE_MS = HEARTBEAT_MS * (MISSED_PINGS_MAX + 1)
/**
 * Milliseconds between two comparisons of a session's channels with the store, which find what the
 * bus has lost.
 */
export const CHECK_EVERY_MS = 60_000
/** Milliseconds from a read without progress to the next one. */
export const RETRY_READ_MS = 1_000
/** Milliseconds that a goaway asks a device to wait, chosen at random. */
export const RETRY_AFTER_MS = { least: 500, most: 5_000 } as const
/** Milliseconds from a goaway to the close, so that late acknowledgements can arrive. */
export const LEAVE_WITHIN_MS = 1_500
/**
 * Frames that move no position which may come in a second, and at once: pings, faults, repeated
 * acknowledgements.
 */
export const IDLE_FRAMES_PER_SECOND_MAX = 50
/** Frames that are no JSON object after which a connection goes on. */
export const BROKEN_FRAMES_MAX = 5

/** Codes with which a connection closes: WebSocket's, which QUIC carries as application codes. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  unsupported: 1003,
  policy: 1008,
  tooBig: 1009,
  failed: 1011,
  tryLater: 1013,
} as const
