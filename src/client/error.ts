// The only error that the client throws for a failed call.

/**
 * Codes beside the gateway's own. `not_connected`: the client could not send the request.
 * `connection_failed`: no answer came, so the gateway may have the request or not.
 * `answer_invalid`: the answer is not that of a gateway. `body_invalid`: the submission cannot be
 * written as JSON.
 * `session_replaced`: a newer session of the device took over. `envelope_invalid`, `key_unknown`,
 * `decryption_failed`: a ciphertext has another form, no given key is the one that it names, or it
 * was not made with this key for this channel and field.
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
  /** The gateway's sentence for a person, in the language of `ClientOptions.language`. */
  readonly sentence?: string | undefined
  /** The mistake in the request: a member by its path, and the rule that it breaks. */
  readonly detail?: string | undefined
}

/** The failure of a call. Its message holds no secret. */
export class HeliographError extends Error {
  override readonly name = 'HeliographError'
  readonly code: string
  readonly status: number
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  readonly requestId: string | undefined
  readonly sentence: string | undefined
  readonly detail: string | undefined

  constructor(message: string, facts: ErrorFacts) {
    super(message)
    this.code = facts.code
    this.status = facts.status
    this.retryable = facts.retryable
    this.retryAfterMs = facts.retryAfterMs
    this.requestId = facts.requestId
    this.sentence = facts.sentence
    this.detail = facts.detail
  }
}
