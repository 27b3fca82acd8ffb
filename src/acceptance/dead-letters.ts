// Dead letters for the operator of the gateway: shown, and tried again. (W6)
//
// Invariants:
//   dead-letters/1. A retry has one effect, however often it is asked for: its op_id follows from
//     that of the dead letter, which goes once the log has the retry.

import { hash } from 'node:crypto'

import type { KeptDeadLetter } from '#domain/operator/dead-letters'
import { fault, isFault } from '#domain/fault'
import { operationIdFrom } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Page } from '#domain/store-ports'
import { readSubmission } from '#src/schemas/batch'
import { DEAD_LETTERS } from '#src/schemas/operator/dead-letter-routes'
import { readersOf } from '#src/schemas/shape'
import type { Caller } from './caller.ts'
import type { Stage } from './stage.ts'

const READ = readersOf(DEAD_LETTERS)

/** The operation that a retry has made. */
interface Retried {
  readonly opId: OperationId
}

export class DeadLetters {
  readonly #ports: Pick<Stage, 'deadLetters' | 'sink'>

  constructor(ports: Pick<Stage, 'deadLetters' | 'sink'>) {
    this.#ports = ports
  }

  /** Oldest first. */
  async list(fields: unknown): Promise<Answer<Page<KeptDeadLetter>>> {
    const request = READ.list(fields)
    return isFault(request) ? request : this.#ports.deadLetters.list(request)
  }

  /**
   * Hands a dead letter to its lane again, as a submission of now with an op_id of its own. Faults:
   * dead_letter_not_found, dead_letter_unreadable, and those of an acceptance.
   */
  async retry(fields: unknown, caller: Caller): Promise<Answer<Retried>> {
    const request = READ.retry(fields)
    if (isFault(request)) return request
    const { id } = request
    const { deadLetters, sink } = this.#ports
    const kept = await deadLetters.find(id)
    if (kept === undefined) return fault('dead_letter_not_found')
    const submission = readSubmission(kept.payload)
    if (submission.model === 'unreadable') return fault('dead_letter_unreadable')
    if (caller.refusal !== undefined) return caller.refusal
    const acceptedAt = caller.receivedAtMs
    const hex = hash('sha256', `retry ${submission.opId}`, 'hex').slice(0, 32)
    const opId = operationIdFrom(submission.acceptedAt, hex) // dead-letters/1
    const again = { ...submission, opId, acceptedAt, mayRepeat: true as const }
    const accepted = await sink.accept(
      again.model === 'message' ? { ...again, claimed: false } : again,
    )
    if (isFault(accepted)) return accepted
    await deadLetters.remove(id)
    return { opId }
  }
}
