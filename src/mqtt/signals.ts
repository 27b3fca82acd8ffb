// The inputs and outputs of a session: the interface between the protocol (session.ts, without I/O)
// and the connection that performs it (connection.ts).

import type { Fault } from '#domain/fault'
import type { BrokenPacket, Packet } from './codec.ts'
import type { OpenChannel } from '#src/acceptance/channel-access'
import type { Opening } from './connect.ts'
import type { News } from './news.ts'
import type { Publication } from './publishes.ts'
import type { FeedNews, FeedRequest, OwnPublishes, StoredSubscription } from './subscriber.ts'

/** What a kept session brings from earlier connections. */
export interface KeptState {
  /** True when it had one. */
  readonly isPresent: boolean
  readonly subscriptions: readonly StoredSubscription[]
  /** Packet ids at QoS 2 that wait for their PUBREL. */
  readonly unreleased: readonly number[]
}

/** The reason for which the gateway ends a connection. */
export type Leave = 'shutdown' | 'taken-over' | 'not-authorized' | 'busy' | 'unread'

export type Input =
  | { readonly kind: 'packet'; readonly packet: Packet }
  | { readonly kind: 'broken'; readonly reason: BrokenPacket }
  /** The credentials are good. */
  | {
      readonly kind: 'opened'
      readonly open: OpenChannel
      readonly own: OwnPublishes
      /** The session that outlives the connection; undefined when none does. */
      readonly kept: KeptState | undefined
      /** The client id that the gateway made for a client without one. */
      readonly madeId: string | undefined
      /** Milliseconds for which the session outlives its connection; 0 for one that does not. */
      readonly keptMs: number
      /** Topic aliases that the client may set. */
      readonly aliasMax: number
      /** Milliseconds after which the credentials expire; Infinity for never. */
      readonly expiresInMs: number
    }
  | { readonly kind: 'refused'; readonly fault: Fault }
  /** The log has the publish of this ticket, or it is refused. */
  | { readonly kind: 'settled'; readonly ticket: number; readonly fault?: Fault | undefined }
  /** The exchange of a kept session is over. */
  | { readonly kind: 'released'; readonly messageId: number }
  | { readonly kind: 'feed'; readonly news: FeedNews }
  /** Present state that SUBSCRIBE asked for. */
  | { readonly kind: 'retained'; readonly news: readonly News[] }
  | { readonly kind: 'tick' }
  | { readonly kind: 'leave'; readonly reason: Leave }

export type InputOf<Kind extends Input['kind']> = Extract<Input, { readonly kind: Kind }>

export type Output =
  | { readonly kind: 'send'; readonly packet: Packet }
  /** Check the credentials. The answer is `opened` or `refused`. */
  | { readonly kind: 'open'; readonly opening: Opening }
  /** Submit the publish. The answer is `settled` with the same ticket. */
  | { readonly kind: 'submit'; readonly ticket: number; readonly publication: Publication }
  /** End the exchange of a kept session. The answer is `released`. */
  | { readonly kind: 'release'; readonly messageId: number }
  | FeedRequest
  | Closing

/** Close the connection once everything before is sent. */
export interface Closing {
  readonly kind: 'close'
  /** True when the will is not published. */
  readonly isClean: boolean
  readonly reason: string
  /** The client's last word on how long its session is kept. */
  readonly keptMs?: number
}

export type OutputOf<Kind extends Output['kind']> = Extract<Output, { readonly kind: Kind }>
