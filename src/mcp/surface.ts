// The way of one request: site, caller, scope, and then the protocol's library.

import { createMcpHandler } from '@modelcontextprotocol/server'
import type { AuthInfo, McpHttpHandler } from '@modelcontextprotocol/server'

import type { AccessTokens, AssistantScope, Bindings } from '#domain/assistants'
import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Request as Asked } from '#src/ingress/request'
import { isRecord } from '#src/schemas/shape'
import { Admission, scopeRefusal } from './admission.ts'
import { NOT_ONE_MESSAGE } from './answerer.ts'
import type { Answered } from './answerer.ts'
import { Call } from './call.ts'
import { channelTools } from './channel-tools.ts'
import { readingTools } from './reading-tools.ts'
import { Resources } from './resources.ts'
import { serverFactory } from './server.ts'
import type { ServerParts } from './server.ts'
import { siteCheck } from './sites.ts'
import { submissionTools } from './submission-tools.ts'
import type { Tool } from './tool.ts'

export interface McpPorts {
  readonly tokens: AccessTokens
  readonly bindings: Bindings
  readonly meter: Meter
  readonly logger: Logger
}

export interface McpOptions {
  /** The address of the gateway as its clients know it, without a slash at the end. */
  readonly baseUrl: string
  readonly version: string
  readonly statusRetentionMs: number
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
/** What the library reads of the headers. */
const FORWARDED = ['accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

export class Surface {
  readonly resource: string
  readonly #admission: Admission
  readonly #isForeign: ReturnType<typeof siteCheck>
  readonly #bindings: Bindings
  readonly #scopes: ReadonlyMap<string, readonly AssistantScope[]>
  readonly #handler: McpHttpHandler
  /** The call behind each value that travels through the library. */
  readonly #calls = new WeakMap<AuthInfo, Call>()

  constructor(acceptance: Acceptance, ports: McpPorts, options: McpOptions) {
    const { tokens, bindings } = ports
    this.resource = `${options.baseUrl}/mcp`
    const { callerCheck } = acceptance
    this.#admission = new Admission({ callerCheck, tokens, resource: this.resource })
    this.#isForeign = siteCheck(options.baseUrl)
    this.#bindings = bindings
    const shared = [
      ...submissionTools(acceptance.submissions),
      ...readingTools({ acceptance, ...options }),
    ]
    const tools = [...shared, ...channelTools(bindings)]
    this.#scopes = new Map(tools.map(({ name, scopes }) => [name, scopes]))
    const parts = serverParts(tools, { acceptance, ports, version: options.version })
    const byGrant = serverFactory('grant', parts)
    const byPassword = serverFactory('password', { ...parts, tools: shared })
    this.#handler = createMcpHandler(
      ({ authInfo }) => {
        const call = authInfo && this.#calls.get(authInfo)
        if (call === undefined) throw new Error('a request came past the check of its caller')
        return call.opening === 'grant' ? byGrant(call) : byPassword(call)
      },
      // Nothing here changes unasked, so nobody listens for changes.
      { maxSubscriptions: 0, keepAliveMs: 0 },
    )
  }

  async handle(request: Asked): Promise<Answer<Answered>> {
    const { headers, body } = request
    const foreign = this.#isForeign(headers['host'] ?? '', headers['origin'] ?? '')
    if (foreign !== undefined) return foreign
    const assistant = await this.#admission.admit(headers['authorization'] ?? '', request)
    if (isFault(assistant)) return assistant
    if (!isRecord(body)) return NOT_ONE_MESSAGE
    const refusal = scopeRefusal(assistant, this.#scopesOf(body))
    if (isFault(refusal)) return refusal
    // Proof of the gateway token passes every budget. (caller-check/1)
    const { receivedAtMs, refusal: closed } = request
    const call = new Call(assistant, { receivedAtMs, refusal: closed }, this.#bindings)
    return this.#answer(request, call)
  }

  /** Of an unknown tool the library tells that there is none. */
  #scopesOf({ method, params }: Readonly<Record<string, unknown>>): readonly AssistantScope[] {
    const name = method === 'tools/call' && isRecord(params) ? params['name'] : undefined
    return this.#scopes.get(String(name)) ?? ['mcp:tools']
  }

  /** Every answer here is short and ends by itself, a stream of events too. */
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

interface PartsOf {
  readonly acceptance: Acceptance
  readonly ports: McpPorts
  readonly version: string
}

function serverParts(tools: readonly Tool[], { acceptance, ports, version }: PartsOf): ServerParts {
  const { meter, logger, bindings } = ports
  const calls = new Map(
    tools.map(({ name }) => [name, meter.counter('tool_calls_total', { tool: name })]),
  )
  return {
    version,
    tools,
    resources: new Resources({ acceptance, bindings }),
    called: (tool, refusal) => {
      calls.get(tool)?.()
      if (refusal !== undefined) meter.counter('refused_total', { code: refusal.code })()
    },
    report: (tool, defect) => logger.error('a tool failed', { tool, ...defect }),
  }
}
