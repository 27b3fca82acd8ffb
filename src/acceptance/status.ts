// The status of an operation. (decisions.md 5)

import { fault } from '#domain/fault'
import { parseOperationId } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type { Answer, SubmissionSink } from '#domain/ports'
import type { OperationStore } from '#domain/store-ports'
import { OPERATION_ID_RULE } from '#src/schemas/values'
import type { Caller } from './caller.ts'

export interface StatusPorts {
  readonly sink: Pick<SubmissionSink, 'find'>
  readonly operations: Pick<OperationStore, 'find'>
  readonly statusRetentionMs: number
}

export class Statuses {
  readonly #ports: StatusPorts

  constructor(ports: StatusPorts) {
    this.#ports = ports
  }

  /**
   * The record of an operation; send_status_not_found when there is none, when it has expired, or
   * when the caller's grant does not have its channel. Whoever was answered finds it, also while
   * the way in is draining or full. One that is starting has not applied everything yet, so no way
   * in that refuses says that there is none.
   */
  async find(
    opIdText: string,
    { receivedAtMs, refusal, grant }: Caller,
  ): Promise<Answer<Operation>> {
    const opId = parseOperationId(opIdText)
    if (opId === undefined) {
      return fault('validation_failed', { field: 'op_id', detail: `op_id ${OPERATION_ID_RULE}` })
    }
    const operation = await this.#latest(opId)
    const { statusRetentionMs } = this.#ports
    if (operation === undefined || operation.acceptedAt + statusRetentionMs < receivedAtMs) {
      return refusal ?? fault('send_status_not_found')
    }
    const isForeign = grant !== undefined && !grant.channels.has(operation.channelId)
    return isForeign ? fault('send_status_not_found') : operation
  }

  /**
   * Asks what was accepted here first, the database after it: an operation leaves the first only
   * once the second has it, so a sender always finds what it was answered.
   */
  async #latest(opId: OperationId): Promise<Operation | undefined> {
    const { sink, operations } = this.#ports
    const pending = sink.find(opId)
    if (pending === undefined) return operations.find(opId)
    if (pending.isRepeat !== true) return pending
    // The first use may be applied, and a status goes forward only. A database that is away has not
    // told anybody of it.
    const applied = await operations.find(opId).catch(() => undefined)
    return applied ?? pending
  }
}
