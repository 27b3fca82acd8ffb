// Submissions that wait because the database refuses the rows of their channel. (W6)

import type { ChannelId, OperationId } from './identity.ts'
import type { LogPosition } from './lane.ts'

/** A submission that waits while the database refuses the rows of its channel. (W6) */
export interface ParkedSubmission {
  readonly channelId: ChannelId
  readonly lane: number
  readonly position: LogPosition
  /** Its place in the batch. */
  readonly index: number
  readonly payload: string
  /** The error of the database, or that earlier submissions of its channel wait already. */
  readonly error: string
}

/** A parked submission from the store; ids grow in the order of parking. */
export interface Waiting extends Pick<ParkedSubmission, 'position' | 'index' | 'payload'> {
  readonly id: number
}

/** The oldest parked submissions of a channel, which a turn applies. */
export interface Unparked {
  readonly channelId: ChannelId
  /** The id of the newest of them. */
  readonly throughId: number
  /** Their records, which say that they wait; the turn's own records replace them. */
  readonly opIds: readonly OperationId[]
}
