// The one error of the client.

/**
 * Codes beside the gateway's own. `not_connected`: the request was not sent. `connection_failed`:
 * no answer came, so the gateway may have it or not. `answer_invalid`: no gateway answers so.
 * `body_invalid`: the submission cannot be written as JSON. `session_replaced`: a newer session of
 * the device took over. `envelope_invalid`, `key_unknown`, `decryption_failed`: a ciphertext is not
 * one, its key is not at hand, or it was not made with this key for this channel and field.
 */
export type ClientCode =
  | 'not_connected'
  | 'connection_failed'
  | 'answer_invalid'
  | 'body_invalid'
  | 'session_replaced'
  | 'envelope_invalid'
  | 'key_unknown'
  | 'decryption_failed'

export interface ErrorFacts {
  /** `error_code` of the gateway, or a ClientCode. */
  readonly code: string
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** True when the same request may be accepted later. */
  readonly retryable: boolean
  readonly retryAfterMs?: number | undefined
  /** For the operator of the gateway. */
  readonly requestId?: string | undefined
}

/** The failure of a call. Its message holds no secret. */
export class HeliographError extends Error {
  override readonly name = 'HeliographError'
  readonly code: string
  readonly status: number
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  readonly requestId: string | undefined

  constructor(message: string, facts: ErrorFacts) {
    super(message)
    this.code = facts.code
    this.status = facts.status
    this.retryable = facts.retryable
    this.retryAfterMs = facts.retryAfterMs
    this.requestId = facts.requestId
  }
}
