// POST and GET /message, and what the client's op_id means. (decisions.md 6)
//
// Invariants:
//   M1. A claim comes before the append. So an op_id whose first use died between the two is
//       completed by a repeat, which appends what the first would have: same op_id, message_id and
//       time. The channel's actor drops the duplicate when both arrive.
//   M2. A repeat answers with the first message_id, never with its own.

import { hash } from 'node:crypto'
import { fault, isFault } from '#domain/fault'
import type { EntityId, OperationId } from '#domain/identity'
import { parseMessageId } from '#domain/identity'
import type { Claim } from '#domain/operation'
import type { Answer, SubmissionSink } from '#domain/ports'
import type { OperationStore } from '#domain/store-ports'
import type { MessageSubmission } from '#domain/submission'
import { contentOf, messageBodyFromQuery, readMessage } from '#src/schemas/message'
import type { SubmitPorts } from './admit.ts'
import type { Handler } from './request.ts'

export interface MessagePorts extends SubmitPorts {
  readonly sink: Pick<SubmissionSink, 'find'>
  readonly operations: Pick<OperationStore, 'claim'>
  readonly statusRetentionMs: number
}

/** Accepted means durable in the log, not delivered. */
export function submitMessage(ports: MessagePorts): Handler {
  return ({ body, receivedAtMs }) => submit(ports, body, receivedAtMs)
}

/** The legacy form: the fields are query parameters. */
export function submitMessageByQuery(ports: MessagePorts): Handler {
  return ({ query, receivedAtMs }) => {
    const body = messageBodyFromQuery(query)
    return isFault(body) ? body : submit(ports, body, receivedAtMs)
  }
}

async function submit(
  ports: MessagePorts,
  body: unknown,
  receivedAtMs: number,
): Promise<Answer<object>> {
  const read = readMessage(body, { nowMs: receivedAtMs, newHex32: ports.newHex32 })
  if (isFault(read)) return read
  const { submission, password } = read
  const opened = await ports.credentials.check(submission.channelId, password)
  if (isFault(opened)) return opened
  if (submission.claimed) return submitClaimed(ports, submission, receivedAtMs)
  const refusal = await ports.acceptance.accept(submission, receivedAtMs)
  return refusal ?? answerWith(submission.opId, submission.entityId)
}

async function submitClaimed(
  ports: MessagePorts,
  submission: MessageSubmission,
  receivedAtMs: number,
): Promise<Answer<object>> {
  const expiredBefore = receivedAtMs - ports.statusRetentionMs
  const outcome = await ports.operations.claim(claimOf(submission), expiredBefore)
  if (outcome.kind === 'conflict') return fault(outcome.code, { field: 'op_id' })
  if (outcome.kind === 'fresh') return append(ports, submission, receivedAtMs)
  if (outcome.applied || ports.sink.find(submission.opId) !== undefined) {
    ports.acceptance.count('message', receivedAtMs)
    return answerWith(submission.opId, outcome.first.messageId) // M2
  }
  return append(ports, asFirst(submission, outcome.first), receivedAtMs) // M1
}

async function append(
  { acceptance }: MessagePorts,
  submission: MessageSubmission,
  receivedAtMs: number,
): Promise<Answer<object>> {
  const refusal = await acceptance.accept(submission, receivedAtMs)
  return refusal ?? answerWith(submission.opId, submission.entityId)
}

function claimOf(submission: MessageSubmission): Claim {
  const thingId = submission.fields['thing_id']
  return {
    opId: submission.opId,
    channelId: submission.channelId,
    thingId: typeof thingId === 'string' ? thingId : '',
    contentHash: hash('sha256', contentOf(submission)),
    messageId: submission.entityId,
    claimedAt: submission.acceptedAt,
  }
}

/** The submission as its first use made it. */
function asFirst(submission: MessageSubmission, first: Claim): MessageSubmission {
  const entityId = parseMessageId(first.messageId)
  if (entityId === undefined) throw new Error('a claim holds a message_id of an unknown form')
  return { ...submission, entityId, acceptedAt: first.claimedAt }
}

const answerWith = (opId: OperationId, messageId: EntityId): object => ({
  op_id: opId,
  message_id: messageId,
})
