// The fault codes that routes of one kind can answer with, beside those of the shared checks.

import type { FaultCode } from '#domain/fault'
import type { EventAction, ThingAction } from '#domain/submission'

export const OPENING: readonly FaultCode[] = [
  'channel_id_required',
  'invalid_channel_id',
  'password_required',
  'invalid_password',
  'channel_not_found',
]
const SUBMITTING: readonly FaultCode[] = [
  ...OPENING,
  'invalid_timestamp',
  'submission_not_accepted',
  'submission_outcome_unknown',
]
export const SENDING: readonly FaultCode[] = [
  ...SUBMITTING,
  'title_required',
  'message_id_forbidden',
  'occurred_at_required_for_thing_scoped_message',
  'op_id_payload_conflict',
  'op_id_scope_conflict',
]
const PATCHING: readonly FaultCode[] = [...SUBMITTING, 'op_id_not_allowed']
const EVENT_CODES: readonly FaultCode[] = [...PATCHING, 'event_time_required']
const THING_CODES: readonly FaultCode[] = [...PATCHING, 'observed_at_required', 'state_forbidden']
export const EVENT_CODES_OF: Record<EventAction, readonly FaultCode[]> = {
  create: [...EVENT_CODES, 'event_id_forbidden_on_create', 'ended_at_forbidden'],
  update: [...EVENT_CODES, 'event_id_required', 'ended_at_forbidden'],
  close: [...EVENT_CODES, 'event_id_required'],
}
export const THING_CODES_OF: Record<ThingAction, readonly FaultCode[]> = {
  create: [...THING_CODES, 'thing_id_forbidden_on_create', 'deleted_at_forbidden'],
  update: [...THING_CODES, 'thing_id_required', 'deleted_at_forbidden'],
  archive: [...THING_CODES, 'thing_id_required', 'deleted_at_forbidden'],
  delete: [...THING_CODES, 'thing_id_required'],
}
export const DEVICE: readonly FaultCode[] = ['device_key_not_found']
