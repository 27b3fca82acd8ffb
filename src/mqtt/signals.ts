// The inputs and outputs of a session: the interface between the protocol (session.ts, without I/O)
// and the connection that performs it (connection.ts).

import type { Fault } from '#domain/fault'
import type { BrokenPacket, Packet } from './codec.ts'
import type { OpenChannel } from '#src/acceptance/channel-access'
import type { Opening } from './connect.ts'
import type { News } from './news.ts'
import type { Publication } from './publishes.ts'
import type { FeedNews, FeedRequest, OwnPublishes } from './subscriber.ts'

/** The reason for which the gateway ends a connection. */
export type Leave = 'shutdown' | 'taken-over' | 'not-authorized' | 'busy'

export type Input =
  | { readonly kind: 'packet'; readonly packet: Packet }
  | { readonly kind: 'broken'; readonly reason: BrokenPacket }
  /** The credentials are good. */
  | {
      readonly kind: 'opened'
      readonly open: OpenChannel
      readonly own: OwnPublishes
      readonly isPresent: boolean
      /** The client id that the gateway made for a client without one. */
      readonly madeId: string | undefined
      readonly keptMs: number
    }
  | { readonly kind: 'refused'; readonly fault: Fault }
  /** The log has the publish of this ticket, or it is refused. */
  | { readonly kind: 'settled'; readonly ticket: number; readonly fault?: Fault | undefined }
  | { readonly kind: 'feed'; readonly news: FeedNews }
  /** Present state that SUBSCRIBE asked for. */
  | { readonly kind: 'retained'; readonly news: readonly News[] }
  | { readonly kind: 'tick' }
  | { readonly kind: 'leave'; readonly reason: Leave }

export type Output =
  | { readonly kind: 'send'; readonly packet: Packet }
  /** Check the credentials. The answer is `opened` or `refused`. */
  | { readonly kind: 'open'; readonly opening: Opening }
  /** Submit the publish. The answer is `settled` with the same ticket. */
  | { readonly kind: 'submit'; readonly ticket: number; readonly publication: Publication }
  | FeedRequest
  /** Close the connection once everything before is sent; `isClean`: the will is not published. */
  | { readonly kind: 'close'; readonly isClean: boolean; readonly reason: string }

export type OutputOf<Kind extends Output['kind']> = Extract<Output, { readonly kind: Kind }>
