// Messages that wait for their time, within a turn of their channel.
//
// Invariants:
//   scheduling/1. A Message that waits is sent or cancelled, once, whichever stands first in the
//     log: it no longer waits from the turn on that decides so. (W2)
//   scheduling/2. The record of a Message that waits bears the time at which it enters the feed:
//     it expires after that, as the record of every Message does.
//   scheduling/3. At most SCHEDULED_PER_CHANNEL_MAX Messages of a channel wait. (W7)

import type { FaultCode } from '#domain/fault'
import type { ChannelId, OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import { SCHEDULED_PER_CHANNEL_MAX } from '#domain/rules/scheduled'
import type { ScheduledMessage, ScheduledState } from '#domain/rules/scheduled'
import type { CancellationSubmission, MessageSubmission, Schedule } from '#domain/submission'
import { decideMessage, operationOf, refusal } from './decide.ts'
import type { Change, Decision } from './decide.ts'
import { statusAfter } from './operation.ts'

const SCHEDULED = statusAfter('take', 'schedule')
const CANCELLED = statusAfter('take', 'schedule', 'cancel')

/** The Messages of a channel that wait, as a turn reads and changes them. */
export interface ScheduledDraft {
  waiting: number
  /** Those that the turn may need, as they were before it. */
  readonly found: ReadonlyMap<OperationId, ScheduledMessage>
  /** Changes by op_id; undefined for one that no longer waits. */
  readonly writes: Map<OperationId, ScheduledMessage | undefined>
}

export const scheduledDraft = (state: Omit<ScheduledState, 'channelId'>): ScheduledDraft => ({
  waiting: state.waiting,
  found: new Map(state.found.map((message) => [message.opId, message])),
  writes: new Map(),
})

/** Keeps a Message until its time. */
export function schedule(
  draft: ScheduledDraft,
  message: MessageSubmission,
  { deliverAt }: Schedule,
): Decision {
  // scheduling/3
  if (draft.waiting >= SCHEDULED_PER_CHANNEL_MAX) {
    return refusal(message, 'scheduled_messages_limit_exceeded')
  }
  const { opId, entityId, fields } = message
  draft.waiting += 1
  draft.writes.set(opId, { opId, messageId: entityId, deliverAt, fields })
  const times = { acceptedAt: deliverAt, updatedAt: message.acceptedAt } // scheduling/2
  return { operation: { ...operationOf(message), status: SCHEDULED, ...times }, changes: [] }
}

/** Takes back a Message that waits. */
export function cancel(draft: ScheduledDraft, submission: CancellationSubmission): Decision {
  const { channelId, cancels, acceptedAt } = submission
  const { found, writes } = draft
  const message = writes.has(cancels) ? writes.get(cancels) : found.get(cancels)
  if (message === undefined) return refusal(submission, WENT)
  end(draft, message)
  const cancelled: Operation = {
    opId: cancels,
    channelId,
    model: 'message',
    entityId: message.messageId,
    status: CANCELLED,
    acceptedAt: message.deliverAt,
    updatedAt: acceptedAt,
  }
  const change: Change = { operation: cancelled, liveThings: 0, openEvents: 0 }
  return { operation: operationOf(submission), changes: [change] }
}

const WENT: FaultCode = 'message_already_sent'

/** Sends a Message whose time has come, as one that is accepted at the time of the tick. */
export function deliver(
  draft: ScheduledDraft,
  message: ScheduledMessage,
  { channelId, headSeq, upTo }: { channelId: ChannelId; headSeq: number; upTo: number },
): readonly Change[] {
  const { opId, messageId: entityId, fields } = message
  end(draft, message)
  const accepted = { channelId, acceptedAt: upTo, claimed: false }
  const sent = { model: 'message', action: 'send', opId, entityId, fields, ...accepted } as const
  const { operation, changes } = decideMessage(sent, headSeq)
  return changes.map((change) => ({ ...change, operation }))
}

/** scheduling/1 */
function end(draft: ScheduledDraft, { opId }: ScheduledMessage): void {
  draft.waiting -= 1
  draft.writes.set(opId, undefined)
}
