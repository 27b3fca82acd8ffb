// The next step for a model whose call was refused.

import type { Fault, FaultCode } from '#domain/fault'
import { lineOf } from '#src/refusals/refusal'
import type { CallCredential } from '#src/schemas/document/tool-schemas'

const AGAIN = 'Wait, then call again with the same arguments.'

const STEPS: Readonly<Partial<Record<FaultCode, string>>> = {
  op_id_payload_conflict: 'Send another message with another op_id.',
  op_id_scope_conflict: 'Send another message with another op_id.',
  entity_not_found: 'Call thing_list for the Things of the Channel.',
  invalid_cursor: 'Call again without cursor for the first page.',
  send_status_not_found: 'Use the op_id that a submission returned; records expire.',
  bind_session_not_found: 'Call channel_bind_start for a new page.',
  op_id_not_allowed: 'Leave op_id out.',
  rate_limited: AGAIN,
  server_busy: AGAIN,
  submission_not_accepted: AGAIN,
  submission_outcome_unknown:
    'It may have been accepted. Call again with the same arguments only if they hold an op_id or ' +
    'a repeat does no harm; otherwise tell the person.',
  internal_error: 'Tell the person that the gateway failed, and that its operator can see why.',
}

const OTHERWISE = 'Correct the arguments and call again.'

const CHANNEL: Readonly<Record<CallCredential, string>> = {
  grant: 'Call channel_list for the Channels that you may use, or channel_bind_start for another.',
  password: 'Ask the person for the Channel and its password.',
}

/** Code, sentence, and the step that can help: one line of text. */
export function refusalText(fault: Fault, opening: CallCredential): string {
  const { code, retryAfterMs } = fault
  const step = code === 'channel_not_found' ? CHANNEL[opening] : (STEPS[code] ?? OTHERWISE)
  const wait = retryAfterMs === undefined ? '' : ` Wait ${Math.ceil(retryAfterMs / 1000)} s.`
  return `${code}: ${lineOf(fault)}. ${step}${wait}`
}
