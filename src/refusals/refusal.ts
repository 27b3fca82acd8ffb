// What every edge says of a fault: its HTTP status, whether a repeat helps, and its sentence.
// (Specification: Errors; decisions.md 2)

import { FAULTS } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'

type Header = readonly [name: string, value: string]

type FailureStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 426 | 429 | 500 | 503

/** The status of each fault. A test keeps docs/faults.md equal. */
export const STATUS: Record<FaultCode, FailureStatus> = {
  authentication_failed: 401,
  access_token_invalid: 401,
  insufficient_scope: 403,
  origin_not_allowed: 403,
  rate_limited: 429,
  route_not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  request_timeout: 408,
  missing_json_content_type: 400,
  invalid_json_syntax: 400,
  unsupported_media_type: 415,
  malformed_body: 400,
  invalid_json_data: 400,
  validation_failed: 400,
  channel_id_required: 400,
  password_required: 400,
  title_required: 400,
  occurred_at_required_for_thing_scoped_message: 400,
  event_time_required: 400,
  observed_at_required: 400,
  event_id_required: 400,
  thing_id_required: 400,
  event_id_forbidden_on_create: 400,
  thing_id_forbidden_on_create: 400,
  message_id_forbidden: 400,
  op_id_not_allowed: 400,
  thing_id_mismatch: 400,
  state_forbidden: 400,
  ended_at_forbidden: 400,
  deleted_at_forbidden: 400,
  invalid_timestamp: 400,
  invalid_channel_id: 400,
  invalid_password: 400,
  invalid_channel_name: 400,
  channel_binding_invalid: 400,
  channels_limit_exceeded: 400,
  channel_not_found: 404,
  channel_subscriber_limit_exceeded: 400,
  key_expired: 403,
  key_scope: 403,
  channel_keys_limit_exceeded: 409,
  channel_key_not_found: 404,
  dead_letter_not_found: 404,
  dead_letter_unreadable: 409,
  rule_not_found: 404,
  rules_limit_exceeded: 409,
  message_already_sent: 409,
  scheduled_messages_limit_exceeded: 409,
  series_limit_exceeded: 413,
  series_incomplete: 503,
  bind_session_not_found: 404,
  invalid_platform: 400,
  invalid_channel_type: 400,
  channel_type_mismatch: 409,
  provider_token_required: 400,
  provider_token_forbidden_for_private_channel: 400,
  invalid_provider_token: 400,
  apns_channel_requires_apple_platform: 409,
  fcm_channel_requires_android_platform: 409,
  device_key_not_found: 404,
  entity_not_found: 404,
  invalid_cursor: 400,
  delivery_id_invalid: 400,
  delivery_ack_batch_invalid: 400,
  op_id_payload_conflict: 409,
  op_id_scope_conflict: 409,
  send_status_not_found: 404,
  submission_not_accepted: 503,
  submission_outcome_unknown: 503,
  server_busy: 503,
  internal_error: 500,
  websocket_upgrade_required: 426,
  missing_websocket_subprotocol: 400,
  event_closed: 409,
  thing_deleted: 409,
  attrs_too_large: 400,
  entity_too_large: 400,
  push_failed: 500,
}

export type Category =
  | 'validation'
  | 'auth'
  | 'not_found'
  | 'conflict'
  | 'rate_limit'
  | 'too_busy'
  | 'internal'

/** The category of each status. */
export const CATEGORY: Record<FailureStatus, Category> = {
  400: 'validation',
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  405: 'validation',
  408: 'validation',
  409: 'conflict',
  413: 'validation',
  415: 'validation',
  426: 'validation',
  429: 'rate_limit',
  500: 'internal',
  503: 'too_busy',
}

const RETRYABLE: ReadonlySet<Category> = new Set<Category>(['rate_limit', 'too_busy', 'internal'])
/** The fault after which a repeat may act twice, unless the fault itself says otherwise. */
const UNSAFE: FaultCode = 'submission_outcome_unknown'

const NONE: readonly Header[] = []
const CHALLENGE: Header = ['www-authenticate', 'Bearer realm="heliograph"']
const UPGRADE: Header = ['upgrade', 'websocket']

/** True when the same request may succeed later, and a repeat does no harm. */
export const isRetryable = ({ code, retryable }: Fault): boolean =>
  retryable ?? (RETRYABLE.has(CATEGORY[STATUS[code]]) && code !== UNSAFE)

/** The headers that tell every client the next step, whatever shape its answers have. */
export function failureHeaders(fault: Fault): readonly Header[] {
  const status = STATUS[fault.code]
  if (status === 401) return [CHALLENGE]
  if (status === 426) return [UPGRADE]
  if ((status !== 429 && status !== 503) || !isRetryable(fault)) return NONE
  const retryAfter: Header = ['retry-after', wholeSeconds(retryAfterMs(fault))]
  return [...rateLimitHeaders(fault), retryAfter]
}

/** The sentence about this request, which names the field; without a sentence the field alone. */
export const detailOf = ({ field, detail }: Fault): string | undefined => detail ?? field

/** A fault in one line, for answers that have one place for it. */
export function lineOf(fault: Fault): string {
  const detail = detailOf(fault)
  const sentence = FAULTS[fault.code]
  return detail === undefined || detail === sentence ? sentence : `${sentence}: ${detail}`
}

const wholeSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)))
const retryAfterMs = (fault: Fault): number => fault.retryAfterMs ?? 1000

/** The limit that was reached, and the time until it is free again. */
function rateLimitHeaders(fault: Fault): readonly Header[] {
  if (fault.limit === undefined) return NONE
  return [
    ['ratelimit-limit', String(fault.limit)],
    ['ratelimit-remaining', '0'],
    ['ratelimit-reset', wholeSeconds(retryAfterMs(fault))],
  ]
}
