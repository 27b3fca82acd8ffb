// The status of an operation. (decisions.md 5)

import { fault } from '#domain/fault'
import { parseOperationId } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { KeptOperation, Operation } from '#domain/operation'
import type { Answer } from '#domain/ports'
import { OPERATION_ID_RULE } from '#src/schemas/values'
import type { Caller } from './caller.ts'
import type { Stage } from './stage.ts'

export class Statuses {
  readonly #ports: Stage

  constructor(ports: Stage) {
    this.#ports = ports
  }

  /**
   * The record of an operation; send_status_not_found when there is none, when it has expired, or
   * when the caller's grant does not have its channel. A client with a 200 finds it, also
   * while the gateway is draining or full. A starting process has not applied everything yet, so a
   * gateway that refuses requests never answers that there is none.
   */
  async find(
    opIdText: string,
    { receivedAtMs, refusal, grant }: Caller,
  ): Promise<Answer<KeptOperation>> {
    const opId = parseOperationId(opIdText)
    if (opId === undefined) {
      return fault('validation_failed', { field: 'op_id', detail: `op_id ${OPERATION_ID_RULE}` })
    }
    const operation = await this.#latest(opId)
    const { statusRetentionMs } = this.#ports
    const expiresAt = (operation?.acceptedAt ?? 0) + statusRetentionMs
    if (operation === undefined || expiresAt < receivedAtMs) {
      return refusal ?? fault('send_status_not_found')
    }
    const isForeign = grant !== undefined && !grant.channels.has(operation.channelId)
    return isForeign ? fault('send_status_not_found') : { ...operation, expiresAt }
  }

  /**
   * Looks first among the operations accepted here, then in the database: an operation leaves the
   * first only once the second has it, so a sender always finds an operation that was answered 200.
   */
  async #latest(opId: OperationId): Promise<Operation | undefined> {
    const { sink, operations } = this.#ports
    const pending = sink.find(opId)
    if (pending === undefined) return operations.find(opId)
    if (pending.isRepeat !== true) return pending
    // The first use may be applied already, and a status only goes forward. While the database is
    // away, nobody has seen a later status.
    const applied = await operations.find(opId).catch(() => undefined)
    return applied ?? pending
  }
}
