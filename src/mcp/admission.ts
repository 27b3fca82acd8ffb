// Admits assistants: by an access token, or by the gateway token.
//
// Invariants:
//   admission/1. A token that is neither counts in the password budget, so nobody guesses the
//                gateway token here more often than elsewhere. A missing one does not count.
//   admission/2. An access token opens nothing but the resource that it was made for.

import type { AccessTokens, AssistantScope } from '#domain/assistants'
import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Caller } from '#src/acceptance/caller'
import type { CallerCheck } from '#src/acceptance/caller-check'
import { TOKEN_CHARACTERS_MAX } from '#src/acceptance/gateway-token'
import type { Assistant } from './call.ts'

interface AdmissionPorts {
  readonly callerCheck: CallerCheck
  readonly tokens: AccessTokens
  /** The URL of this surface, which access tokens are made for. (RFC 8707) */
  readonly resource: string
}

const REFUSED = fault('access_token_invalid')
const BY_PASSWORD: Assistant = { kind: 'password' }
const BEARER = /^bearer +(\S+)$/i

export class Admission {
  readonly #ports: AdmissionPorts

  constructor(ports: AdmissionPorts) {
    this.#ports = ports
  }

  /** access_token_invalid or rate_limited for whoever shows no token that is good here. */
  async admit(authorization: string, caller: Caller): Promise<Answer<Assistant>> {
    if (authorization === '') return REFUSED
    const { callerCheck, tokens, resource } = this.#ports
    if (callerCheck.provesToken(authorization)) return BY_PASSWORD
    const token = BEARER.exec(authorization)?.[1] ?? ''
    const isPossible = token !== '' && token.length <= TOKEN_CHARACTERS_MAX
    const grant = isPossible ? await tokens.verify(token, resource) : undefined // admission/2
    if (grant !== undefined) return { kind: 'grant', grant }
    return callerCheck.countGuess(caller, 'access token') ?? REFUSED // admission/1
  }
}

/** The refusal of an assistant whose token lacks one of these scopes. */
export function scopeRefusal(
  assistant: Assistant,
  needed: readonly AssistantScope[],
): Answer<undefined> {
  if (assistant.kind === 'password') return undefined
  const { scopes } = assistant.grant
  const isAllowed = needed.every((scope) => scopes.has(scope))
  // The scopes to ask for, those that it has among them: a new token takes the place of the old.
  const whole = [...new Set([...needed, ...scopes])]
  return isAllowed ? undefined : fault('insufficient_scope', { detail: whole.join(' ') })
}
