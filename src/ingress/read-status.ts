// GET /send_status/{op_id}. (decisions.md 5)

import { fault } from '#domain/fault'
import { parseOperationId } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type { SubmissionSink } from '#domain/ports'
import type { OperationStore } from '#domain/store-ports'
import { operationToWire } from '#src/schemas/answers'
import { OPERATION_ID_RULE } from '#src/schemas/values'
import type { Handler } from './request.ts'

export interface StatusPorts {
  readonly sink: Pick<SubmissionSink, 'find'>
  readonly operations: Pick<OperationStore, 'find'>
  readonly statusRetentionMs: number
}

export function readStatus(ports: StatusPorts): Handler {
  const { statusRetentionMs } = ports
  return async ({ parameters, receivedAtMs }) => {
    const opId = parseOperationId(parameters['op_id'] ?? '')
    if (opId === undefined) {
      return fault('validation_failed', { field: 'op_id', detail: `op_id ${OPERATION_ID_RULE}` })
    }
    const operation = await find(ports, opId)
    if (operation === undefined || operation.acceptedAt + statusRetentionMs < receivedAtMs) {
      return fault('send_status_not_found')
    }
    return operationToWire(operation, statusRetentionMs)
  }
}

/**
 * What was accepted here is asked first, the database after it: an operation leaves the first only
 * once the second has it, so a sender always finds what it was answered.
 */
async function find(
  { sink, operations }: StatusPorts,
  opId: OperationId,
): Promise<Operation | undefined> {
  const pending = sink.find(opId)
  if (pending === undefined) return operations.find(opId)
  if (pending.isRepeat !== true) return pending
  // The first use may be applied, and a status goes forward only. A database that is away has not
  // told anybody of it.
  const applied = await operations.find(opId).catch(() => undefined)
  return applied ?? pending
}
