// Takes one request through the checks of site, caller and scope to the protocol's library. A page
// of another site must not reach a gateway that listens beside the browser, also when its name was
// rebound to this address: hence the check of Host and Origin.

import {
  createMcpHandler,
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import type { AuthInfo, McpHttpHandler, McpServer } from '@modelcontextprotocol/server'

import type { AssistantScope, Bindings } from '#domain/assistants'
import { isFault, fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import type { Request as Asked } from '#src/ingress/request'
import { scopeRefusal } from './admission.ts'
import type { Admission } from './admission.ts'
import { NOT_ONE_MESSAGE } from './answerer.ts'
import type { Answered } from './answerer.ts'
import { Call } from './call.ts'
import type { Fault } from '#domain/fault'

export interface SurfaceParts {
  readonly admission: Admission
  readonly bindings: Pick<Bindings, 'ofGrant'>
  /** The address of the gateway as its clients know it. */
  readonly baseUrl: string
  /** The URL of this surface. */
  readonly resource: string
  /** The scopes that the caller of a tool needs. */
  readonly scopes: ReadonlyMap<string, readonly AssistantScope[]>
  /** Makes the protocol's server for one request. */
  readonly serverOf: (call: Call) => McpServer
}

/** The headers that `handle` wants. */
export const HEADERS = [
  'authorization',
  'host',
  'origin',
  'accept',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
] as const
/** The headers that the library reads. */
const FORWARDED = ['accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

export class Surface {
  readonly resource: string
  readonly #parts: SurfaceParts
  readonly #isForeign: ReturnType<typeof siteCheck>
  readonly #handler: McpHttpHandler
  /** The call of each request, by the value that the library carries for us. */
  readonly #calls = new WeakMap<AuthInfo, Call>()

  constructor(parts: SurfaceParts) {
    this.#parts = parts
    this.resource = parts.resource
    this.#isForeign = siteCheck(parts.baseUrl)
    this.#handler = createMcpHandler(
      ({ authInfo }) => {
        const call = authInfo && this.#calls.get(authInfo)
        if (call === undefined) throw new Error('a request came past the check of its caller')
        return parts.serverOf(call)
      },
      // The lists of tools and resources change with calls alone, so nobody listens for changes.
      { maxSubscriptions: 0, keepAliveMs: 0 },
    )
  }

  async handle(request: Asked): Promise<Answer<Answered>> {
    const { headers, body } = request
    const { admission, bindings } = this.#parts
    const foreign = this.#isForeign(headers['host'] ?? '', headers['origin'] ?? '')
    if (foreign !== undefined) return foreign
    const assistant = await admission.admit(headers['authorization'] ?? '', request)
    if (isFault(assistant)) return assistant
    if (!isRecord(body)) return NOT_ONE_MESSAGE
    const refusal = scopeRefusal(assistant, this.#scopesOf(body))
    if (isFault(refusal)) return refusal
    // Proof of the gateway token passes every budget. (caller-check/1)
    const { receivedAtMs, refusal: closed, origin, attempt } = request
    const caller = { receivedAtMs, refusal: closed, origin, attempt }
    const call = new Call(assistant, caller, bindings)
    return this.#answer(request, call)
  }

  /** The scopes of the called tool. An unknown one passes, for the library to refuse it. */
  #scopesOf({ method, params }: Readonly<Record<string, unknown>>): readonly AssistantScope[] {
    const name = method === 'tools/call' && isRecord(params) ? params['name'] : undefined
    return this.#parts.scopes.get(String(name)) ?? ['mcp:tools']
  }

  /** Reads the whole answer: also a stream of events is short here and ends by itself. */
  async #answer({ headers, body }: Asked, call: Call): Promise<Answered> {
    // The token stays here: the library has no use for it. (mcp/3)
    const authInfo: AuthInfo = { token: '', clientId: '', scopes: [] }
    this.#calls.set(authInfo, call)
    const forwarded = FORWARDED.flatMap((name) => {
      const value = headers[name] ?? ''
      return value === '' ? [] : [[name, value] as const]
    })
    const asked = new Request(this.resource, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...Object.fromEntries(forwarded) },
    })
    const response = await this.#handler.fetch(asked, { authInfo, parsedBody: body })
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? undefined,
      body: await response.text(),
    }
  }
}

/** Makes the check: this host and the names of the loopback are allowed. */
function siteCheck(baseUrl: string): (host: string, origin: string) => Fault | undefined {
  const names = [...new Set([new URL(baseUrl).hostname, ...localhostAllowedHostnames()])]
  return (host, origin) => {
    const isAllowed = validateHostHeader(host, names).ok && validateOriginHeader(origin, names).ok
    return isAllowed ? undefined : fault('origin_not_allowed')
  }
}
