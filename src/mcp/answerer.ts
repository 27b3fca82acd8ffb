// Answers of the surface: what the protocol's library made, or a refusal with the challenge that
// tells a client how to get a token. (RFC 6750; RFC 9728, 5)

import { ASSISTANT_SCOPES } from '#domain/assistants'
import { fault } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import type { Answerer } from '#src/ingress/answerer'
import { JSON_TYPE } from '#src/http/reply'
import type { Header, Reply } from '#src/http/reply'
import type { Request } from '#src/ingress/request'
import { STATUS, failureHeaders, lineOf } from '#src/refusals/refusal'

/** The answer of the protocol's library, read whole. */
export interface Answered {
  readonly status: number
  /** Undefined for an answer without content: a notification has been taken. */
  readonly contentType: string | undefined
  readonly body: string
}

/** The codes that JSON-RPC has for refusals before any method is called. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const REFUSED = -32_000
const RPC_CODES: Readonly<Partial<Record<FaultCode, number>>> = {
  invalid_json_syntax: PARSE_ERROR,
  invalid_json_data: INVALID_REQUEST,
}

/** `metadataUrl` is the address of the metadata of this resource. */
export const rpcAnswerer = (metadataUrl: string): Answerer<Answered> => ({
  isLocalised: false,
  success: ({ status, contentType, body }) => ({ status, contentType, headers: [], body }),
  failure: (refusal, { headers }: Request): Reply => {
    const { code } = refusal
    const error = {
      code: RPC_CODES[code] ?? REFUSED,
      message: lineOf(refusal),
      data: { error_code: code },
    }
    return {
      status: STATUS[code],
      contentType: JSON_TYPE,
      headers: refusalHeaders(refusal, metadataUrl, headers['authorization'] ?? ''),
      body: JSON.stringify({ jsonrpc: '2.0', error, id: null }),
      code,
    }
  },
})

function refusalHeaders(
  refusal: Fault,
  metadataUrl: string,
  authorization: string,
): readonly Header[] {
  const { code, detail = '' } = refusal
  const where = `resource_metadata="${metadataUrl}"`
  if (code === 'access_token_invalid') {
    // RFC 6750, 3.1: a request without a token is told no error code.
    const error = authorization === '' ? '' : ', error="invalid_token"'
    return [challenge(`${where}, scope="${FIRST_SCOPE}"${error}`)]
  }
  if (code === 'insufficient_scope') {
    return [challenge(`error="insufficient_scope", scope="${detail}", ${where}`)]
  }
  return failureHeaders(refusal)
}

/** The scope that a client begins with; a tool that needs more says so. */
const [FIRST_SCOPE = ''] = ASSISTANT_SCOPES

const challenge = (parameters: string): Header => [
  'www-authenticate',
  `Bearer realm="heliograph", ${parameters}`,
]

/** The refusal of a body that is not one message. */
export const NOT_ONE_MESSAGE = fault('invalid_json_data', {
  detail: 'the body must be one JSON-RPC message; batches are not taken',
})
