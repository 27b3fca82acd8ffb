// Settles the meaning of a client's op_id on a Message. (decisions.md 6)
//
// Invariants:
//   message-claims/1. A claim comes before the append. So a repeat completes an op_id whose first
//                     use died between the two: it appends the same Message, with the same op_id,
//                     message_id and time. The channel's actor drops the duplicate when both
//                     arrive.
//   message-claims/2. A repeat answers with the first message_id, never with its own.
//   message-claims/3. An op_id on its way through the log is taken before the database knows it:
//                     otherwise the actor would drop the Message as a repeat, or its record would
//                     collide.

import { hash } from 'node:crypto'
import { fault } from '#domain/fault'
import { parseMessageId } from '#domain/identity'
import type { Claim } from '#domain/operation'
import type { Answer } from '#domain/ports'
import type { MessageSubmission } from '#domain/submission'
import { contentOf } from '#src/schemas/message'
import type { Caller } from './caller.ts'
import type { Accepted } from './intent.ts'
import type { Stage } from './stage.ts'

/** The next step for a Message with a client's op_id. */
export type Settled =
  | { readonly kind: 'append'; readonly submission: MessageSubmission }
  /** The log has its first use already. */
  | { readonly kind: 'known'; readonly accepted: Accepted }

export class MessageClaims {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  /** Claims the op_id. Gives a fault when it stands for another content or scope. */
  async settle(submission: MessageSubmission, caller: Caller): Promise<Answer<Settled>> {
    const { sink, operations, statusRetentionMs } = this.#ports
    const { opId } = submission
    const expiredBefore = caller.receivedAtMs - statusRetentionMs
    const isPending = sink.find(opId) !== undefined // message-claims/3
    const outcome = await operations.claim(claimOf(submission), expiredBefore, isPending)
    if (outcome.kind === 'conflict') return fault(outcome.code, { field: 'op_id' })
    if (outcome.kind === 'fresh') return { kind: 'append', submission }
    if (outcome.applied || sink.find(opId) !== undefined) {
      const entityId = outcome.first.messageId // message-claims/2
      return { kind: 'known', accepted: { model: 'message', opId, entityId } }
    }
    return { kind: 'append', submission: asFirst(submission, outcome.first) } // message-claims/1
  }
}

function claimOf(submission: MessageSubmission): Claim {
  const thingId = submission.fields['thing_id']
  return {
    opId: submission.opId,
    channelId: submission.channelId,
    thingId: typeof thingId === 'string' ? thingId : '',
    contentHash: hash('sha256', contentOf(submission)),
    messageId: submission.entityId,
    // Kept for as long as its operation, which ends with the Message.
    claimedAt: submission.schedule?.deliverAt ?? submission.acceptedAt,
  }
}

/** The submission as its first use made it. */
function asFirst(submission: MessageSubmission, first: Claim): MessageSubmission {
  const entityId = parseMessageId(first.messageId)
  if (entityId === undefined) throw new Error('a claim holds a message_id of an unknown form')
  const { schedule } = submission
  const times = schedule
    ? { schedule: { ...schedule, deliverAt: first.claimedAt } }
    : { acceptedAt: first.claimedAt }
  return { ...submission, entityId, ...times, isRepeat: true }
}
