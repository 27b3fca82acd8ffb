// One list of faults. The domain knows the code, its sentence and its category. Each edge (HTTP,
// session, tool) maps codes to its own terms once, by a Record<FaultCode, …>.

/** Every code a caller can meet, with the sentence that goes with it. (decisions.md 2) */
export const FAULTS = {
  authentication_failed: 'the gateway token is missing or wrong',
  access_token_invalid: 'an access token of this gateway is required',
  insufficient_scope: 'the access token does not allow this',
  origin_not_allowed: 'the Host or the Origin header names another site',
  rate_limited: 'too many requests; wait and try again',
  route_not_found: 'there is no such route',
  method_not_allowed: 'this route does not take this method',
  body_too_large: 'the request body is larger than this route takes',
  request_timeout: 'the request body did not arrive in time',
  missing_json_content_type: 'the request must carry Content-Type: application/json',
  invalid_json_syntax: 'the request body is not valid JSON in UTF-8',
  unsupported_media_type: 'this route does not take a body of this Content-Type or encoding',
  malformed_body: 'the request body is not what its Content-Type says',
  invalid_json_data: 'a field has the wrong type',
  validation_failed: 'a field has an invalid value',
  channel_id_required: 'channel_id is required',
  password_required: 'password is required',
  title_required: 'title must not be empty',
  occurred_at_required_for_thing_scoped_message: 'occurred_at is required together with thing_id',
  event_time_required: 'event_time is required',
  observed_at_required: 'observed_at is required',
  event_id_required: 'event_id is required',
  thing_id_required: 'thing_id is required',
  event_id_forbidden_on_create: 'event_id must not be sent on create; the gateway makes it',
  thing_id_forbidden_on_create: 'thing_id must not be sent on create; the gateway makes it',
  message_id_forbidden: 'message_id must not be sent; the gateway makes it',
  op_id_not_allowed: 'op_id must not be sent here; the gateway makes it',
  thing_id_mismatch: 'thing_id differs between the path and the body',
  state_forbidden: 'state must not be sent; the route decides it',
  ended_at_forbidden: 'ended_at may be sent on close only',
  deleted_at_forbidden: 'deleted_at may be sent on delete only',
  invalid_timestamp: 'a time must be Unix seconds or milliseconds, not negative, before year 10000',
  invalid_channel_id: 'channel_id is not 26 Crockford Base32 characters of 128 bits',
  invalid_password: 'password must be 8 to 128 bytes after trimming',
  invalid_channel_name: 'channel_name must be 1 to 128 characters without control characters',
  channel_binding_invalid: 'send exactly one of channel_id and channel_name',
  channels_limit_exceeded: 'at most 2000 channels can be synchronised at once',
  channel_not_found: 'the channel does not exist or the credentials do not match',
  channel_subscriber_limit_exceeded: 'the channel has 32 subscribers, which is the limit',
  key_expired: 'the key has expired',
  key_scope: 'the key does not allow this',
  channel_keys_limit_exceeded: 'the channel has 100000 keys, which is the limit',
  channel_key_not_found: 'the channel has no such key',
  dead_letter_not_found: 'no dead letter has this id',
  dead_letter_unreadable: 'the dead letter is no submission that this version can read',
  rule_not_found: 'the channel has no such rule',
  rules_limit_exceeded: 'the rules of a channel are limited: 1000, and 16 MiB together',
  message_already_sent: 'the message does not wait any more, so it cannot be cancelled',
  scheduled_messages_limit_exceeded: 'the channel has 10000 scheduled messages, which is the limit',
  series_limit_exceeded: 'more than 50000 series; narrow them by ?prefix= or ?attr=',
  series_incomplete: 'some series are too much to be read for now; export them again later',
  bind_session_not_found: 'there is no such bind session',
  invalid_platform: 'the platform is not known',
  invalid_channel_type: 'the channel_type is not known',
  channel_type_mismatch: 'the device has another channel_type',
  provider_token_required: 'this channel_type needs a provider_token',
  provider_token_forbidden_for_private_channel: 'a private device has no provider_token',
  invalid_provider_token: 'the provider_token has an invalid form',
  apns_channel_requires_apple_platform: 'channel_type apns needs an Apple platform',
  fcm_channel_requires_android_platform: 'channel_type fcm needs platform android',
  device_key_not_found: 'the device_key is not registered',
  entity_not_found: 'there is no such thing or event in this channel',
  invalid_cursor: 'the cursor was not made by this gateway',
  delivery_id_invalid: 'a delivery_id was not made by this gateway',
  delivery_ack_batch_invalid: 'send 1 to 200 delivery_ids',
  op_id_payload_conflict: 'op_id was used for a message with other content',
  op_id_scope_conflict: 'op_id was used in another scope',
  send_status_not_found: 'there is no such operation, or its record has expired',
  submission_not_accepted: 'the submission was not accepted; try again',
  submission_outcome_unknown: 'the log did not answer; the submission may be accepted or not',
  server_busy: 'the gateway is busy; try again',
  internal_error: 'the gateway failed; try again',
  websocket_upgrade_required: 'this route is a WebSocket; send an upgrade request',
  missing_websocket_subprotocol: 'the WebSocket subprotocol heliograph.v1 is required',
  event_closed: 'the event is closed',
  thing_deleted: 'the thing is deleted',
  attrs_too_large: 'attrs would grow beyond 65536 bytes',
  entity_too_large: 'the fields or external_ids of the entity would grow beyond their limit',
  push_failed: 'no device took the push from its provider',
} as const

export type FaultCode = keyof typeof FAULTS

/** A fault's details beside its code. */
interface FaultDetails {
  /** The member of the request that is at fault, spelled as on the wire. */
  readonly field?: string
  /** A further sentence, about this request; never a secret or an internal text. */
  readonly detail?: string
  readonly retryAfterMs?: number
  /** For rate_limited: requests a minute that the caller may make. */
  readonly limit?: number
  /** True when the caller may send the same request again, if the code alone does not say so. */
  readonly retryable?: boolean
}

/**
 * The reason for a refusal. Only `fault` makes one, so no data of a caller can be taken for one,
 * whatever its members are. It stays in its thread: only a FaultCode crosses threads.
 */
export class Fault implements FaultDetails {
  readonly kind = 'fault'
  readonly code: FaultCode
  declare readonly field?: string
  declare readonly detail?: string
  declare readonly retryAfterMs?: number
  declare readonly limit?: number
  declare readonly retryable?: boolean
  /** Makes the type nominal: an object literal of the same form is no Fault. */
  declare private readonly brand: never

  constructor(code: FaultCode, details: FaultDetails) {
    this.code = code
    Object.assign(this, details)
  }
}

/** Makes a fault; `field` and `detail` must not carry secrets. */
export const fault = (code: FaultCode, details: FaultDetails = {}): Fault =>
  new Fault(code, details)

/** True for a value that is a fault, among results that may be either. */
export const isFault = (value: unknown): value is Fault => value instanceof Fault
