// What leaves the gateway over HTTP: one envelope, and what a fault means here.
// (Specification: Errors; decisions.md 2)

import { FAULTS } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import { localeOf, sentenceOf } from './localise.ts'

export type Header = readonly [name: string, value: string]

/**
 * One HTTP answer before it is written. `x-request-id` and `cache-control` are added to every one.
 */
export interface Reply {
  readonly status: Status
  readonly contentType: string
  readonly headers: readonly Header[]
  readonly body: string
}

export type FailureStatus = 400 | 401 | 404 | 405 | 408 | 409 | 413 | 426 | 429 | 500 | 503
export type Status = 200 | FailureStatus

/** How each status stands in the first line of an answer. */
export const REASON: Record<Status, string> = {
  200: '200 OK',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  409: '409 Conflict',
  413: '413 Content Too Large',
  426: '426 Upgrade Required',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}

/** The status of each fault. The table in the README is kept equal by a test. */
export const STATUS: Record<FaultCode, FailureStatus> = {
  authentication_failed: 401,
  rate_limited: 429,
  route_not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  request_timeout: 408,
  missing_json_content_type: 400,
  invalid_json_syntax: 400,
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
  invalid_platform: 400,
  invalid_channel_type: 400,
  channel_type_mismatch: 400,
  platform_mismatch: 400,
  provider_token_required: 400,
  provider_token_forbidden_for_private_channel: 400,
  invalid_provider_token: 400,
  apns_channel_requires_apple_platform: 400,
  fcm_channel_requires_android_platform: 400,
  device_key_not_found: 404,
  entity_not_found: 404,
  invalid_cursor: 400,
  delivery_id_invalid: 400,
  delivery_ack_batch_invalid: 400,
  op_id_payload_conflict: 409,
  op_id_scope_conflict: 409,
  send_status_not_found: 404,
  submission_not_accepted: 503,
  server_busy: 503,
  internal_error: 500,
  websocket_upgrade_required: 426,
  missing_websocket_subprotocol: 400,
  event_closed: 409,
  thing_deleted: 409,
  attrs_too_large: 400,
  entity_too_large: 400,
}

export type Category =
  'validation' | 'auth' | 'not_found' | 'conflict' | 'rate_limit' | 'too_busy' | 'internal'

const CATEGORY: Record<FailureStatus, Category> = {
  400: 'validation',
  401: 'auth',
  404: 'not_found',
  405: 'validation',
  408: 'validation',
  409: 'conflict',
  413: 'validation',
  426: 'validation',
  429: 'rate_limit',
  500: 'internal',
  503: 'too_busy',
}

const RETRYABLE: ReadonlySet<Category> = new Set<Category>(['rate_limit', 'too_busy', 'internal'])

export const JSON_TYPE = 'application/json; charset=utf-8'
const NO_HEADERS: readonly Header[] = []
const CHALLENGE: Header = ['www-authenticate', 'Bearer realm="heliograph"']
const UPGRADE: Header = ['upgrade', 'websocket']

/** The answer 200 with the success envelope. */
export function success(data: object): Reply {
  const body = `{"success":true,"data":${JSON.stringify(data)}}`
  return { status: 200, contentType: JSON_TYPE, headers: NO_HEADERS, body }
}

/** What a failure says beside the fault. */
export interface FailureContext {
  readonly requestId: string
  readonly acceptLanguage: string
  readonly headers?: readonly Header[]
  /** Stands in `data` although the answer is a failure: what a probe found. */
  readonly data?: object
}

/** The answer to a fault, in the language the caller asked for. */
export function failure(fault: Fault, context: FailureContext): Reply {
  const status = STATUS[fault.code]
  const category = CATEGORY[status]
  const locale = localeOf(context.acceptLanguage)
  const detail = detailOf(fault)
  const sentence = FAULTS[fault.code]
  const body = JSON.stringify({
    success: false,
    error: detail === undefined || detail === sentence ? sentence : `${sentence}: ${detail}`,
    error_code: fault.code,
    problem: {
      code: fault.code,
      category,
      status,
      title: sentence,
      detail,
      localized_message: sentenceOf(fault.code, locale),
      locale,
      retryable: RETRYABLE.has(category),
      request_id: context.requestId,
    },
    data: context.data,
  })
  const headers: Header[] = [['content-language', locale], ...(context.headers ?? [])]
  if (status === 401) headers.push(CHALLENGE)
  if (status === 426) headers.push(UPGRADE)
  if (status === 429 || status === 503) headers.push(['retry-after', retryAfter(fault)])
  return { status, contentType: JSON_TYPE, headers, body }
}

/** The sentence about this request, which names the field; the field alone where there is none. */
const detailOf = ({ field, detail }: Fault): string | undefined => detail ?? field

const wholeSeconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)))
const retryAfter = (fault: Fault): string => wholeSeconds(fault.retryAfterMs ?? 1000)

/** The headers of a 429: the limit that was reached and when it is free again. */
export function rateLimitHeaders(limit: number, resetMs: number): readonly Header[] {
  return [
    ['ratelimit-limit', String(limit)],
    ['ratelimit-remaining', '0'],
    ['ratelimit-reset', wholeSeconds(resetMs)],
  ]
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The caller's own request id when it has the form, else a new one. */
export const requestIdFrom = (header: string, newHex32: () => string): string =>
  header !== '' && REQUEST_ID.test(header) ? header : newHex32()
