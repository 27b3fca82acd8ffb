// POST and GET /message, and what the client's op_id means. (decisions.md 6)
//
// Invariants:
//   M1. A claim comes before the append. So an op_id whose first use died between the two is
//       completed by a repeat, which appends what the first would have: same op_id, message_id and
//       time. The channel's actor drops the duplicate when both arrive.
//   M2. A repeat answers with the first message_id, never with its own.
//   M3. An op_id that is on its way through the log is taken before the database knows it: the
//       actor would drop the Message as a repeat, or find its record in the way of the other.

import { hash } from 'node:crypto'
import { fault, isFault } from '#domain/fault'
import type { EntityId, OperationId } from '#domain/identity'
import { parseMessageId } from '#domain/identity'
import type { Claim } from '#domain/operation'
import type { Answer, SubmissionSink } from '#domain/ports'
import type { OperationStore } from '#domain/store-ports'
import type { MessageSubmission } from '#domain/submission'
import { contentOf, messageBodyFromQuery, readMessage } from '#src/schemas/message'
import { admit } from './admit.ts'
import type { Handed, SubmitPorts } from './admit.ts'
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

function submit(ports: MessagePorts, body: unknown, receivedAtMs: number): ReturnType<Handler> {
  const read = readMessage(body, { nowMs: receivedAtMs, newHex32: ports.newHex32 })
  if (isFault(read)) return read
  const { submission, password } = read
  const message = handed(submission, receivedAtMs)
  if (submission.claimed) return submitClaimed(ports, message, password)
  return admit(ports, { handed: message, password })
}

async function submitClaimed(
  ports: MessagePorts,
  message: HandedMessage,
  password: string,
): Promise<Answer<object>> {
  const { submission, receivedAtMs } = message
  const opened = await ports.credentials.check(submission.channelId, password)
  if (isFault(opened)) return opened
  const expiredBefore = receivedAtMs - ports.statusRetentionMs
  const isPending = ports.sink.find(submission.opId) !== undefined // M3
  const outcome = await ports.operations.claim(claimOf(submission), expiredBefore, isPending)
  if (outcome.kind === 'conflict') return fault(outcome.code, { field: 'op_id' })
  const { acceptance } = ports
  if (outcome.kind === 'fresh') return acceptance.accept(message)
  if (outcome.applied || ports.sink.find(submission.opId) !== undefined) {
    acceptance.count('message', receivedAtMs)
    return answerWith(submission.opId, outcome.first.messageId) // M2
  }
  return acceptance.accept(handed(asFirst(submission, outcome.first), receivedAtMs)) // M1
}

interface HandedMessage extends Handed {
  readonly submission: MessageSubmission
}

const handed = (submission: MessageSubmission, receivedAtMs: number): HandedMessage => ({
  submission,
  receivedAtMs,
  answer: answerWith(submission.opId, submission.entityId),
})

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
  return { ...submission, entityId, acceptedAt: first.claimedAt, isRepeat: true }
}

const answerWith = (opId: OperationId, messageId: EntityId): object => ({
  op_id: opId,
  message_id: messageId,
})
