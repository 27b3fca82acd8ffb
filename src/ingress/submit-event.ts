// POST /event/create, /event/update, /event/close, and the same below /thing/{thing_id}.

import { isFault } from '#domain/fault'
import type { EventAction } from '#domain/submission'
import { readEvent } from '#src/schemas/event'
import { admit } from './admit.ts'
import type { SubmitPorts } from './admit.ts'
import type { Handler } from './request.ts'

/** Accepted means durable in the log, not yet applied. */
export function submitEvent(action: EventAction, ports: SubmitPorts): Handler {
  return ({ body, parameters, receivedAtMs }) => {
    const pathThingId = parameters['thing_id']
    const read = readEvent(action, body, {
      nowMs: receivedAtMs,
      newHex32: ports.newHex32,
      ...(pathThingId === undefined ? {} : { pathThingId }),
    })
    if (isFault(read)) return read
    const { submission, password } = read
    const answer = { op_id: submission.opId, event_id: submission.entityId }
    return admit(ports, { handed: { submission, receivedAtMs, answer }, password })
  }
}
