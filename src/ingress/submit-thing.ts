// POST /thing/create, /thing/update, /thing/archive, /thing/delete.

import { isFault } from '#domain/fault'
import type { ThingAction } from '#domain/submission'
import { readThing } from '#src/schemas/thing'
import { admit } from './admit.ts'
import type { SubmitPorts } from './admit.ts'
import type { Handler } from './request.ts'

/** Accepted means durable in the log, not yet applied. */
export function submitThing(action: ThingAction, ports: SubmitPorts): Handler {
  return ({ body, receivedAtMs }) => {
    const read = readThing(action, body, { nowMs: receivedAtMs, newHex32: ports.newHex32 })
    if (isFault(read)) return read
    const { submission, password } = read
    const answer = { op_id: submission.opId, thing_id: submission.entityId }
    return admit(ports, { handed: { submission, receivedAtMs, answer }, password })
  }
}
