// Messages that wait for their time. (Specification: Rules and time, Scheduled Messages)

import type { ChannelId, MessageId, OperationId } from '#domain/identity'
import type { MessageSubmission } from '#domain/submission'

/** Messages of one channel that wait at most. */
export const SCHEDULED_PER_CHANNEL_MAX = 10_000
/** Messages that one tick sends at most: their content is read with them. */
export const SENT_PER_TICK_MAX = 256

/** A Message that enters the feed at its time. */
export interface ScheduledMessage extends Pick<MessageSubmission, 'opId' | 'fields'> {
  readonly messageId: MessageId
  /** Unix milliseconds. */
  readonly deliverAt: number
}

/** A Message that waits from now on; one that is absent no longer waits, and its record goes. */
export interface ScheduledWrite {
  readonly opId: OperationId
  readonly kept: ScheduledMessage | undefined
}

/** The changes of a turn in the Messages of one channel that wait. */
export interface ScheduledWrites {
  readonly lane: number
  readonly messages: readonly ScheduledWrite[]
}

/** Asks for the Messages of a channel that wait, by their op_ids, and for the number of all. */
export interface ScheduledRead {
  readonly channelId: ChannelId
  readonly opIds: readonly OperationId[]
}

/** The answer to it. */
export interface ScheduledState {
  readonly channelId: ChannelId
  readonly waiting: number
  readonly found: readonly ScheduledMessage[]
}
