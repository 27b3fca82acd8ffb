// The surface for AI assistants: the Model Context Protocol over the listener of the gateway.
// (Specification: MCP; docs/decisions.md 15)
//
// Invariants:
//   mcp/1. A tool calls the acceptance stage as a route does. No rule about a submission stands
//          here.
//   mcp/2. Each request stands alone: nothing is kept between two of them, so any node answers any.
//   mcp/3. Neither a token nor a password reaches a log, an answer or a URL.

import { ASSISTANT_SCOPES } from '#domain/assistants'
import type { AccessTokens, Bindings } from '#domain/assistants'
import type { NowMs } from '#domain/ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { Acceptance } from '#src/acceptance/acceptance'
import { DOCUMENT } from '#src/ingress/answerer'
import { JSON_TYPE } from '#src/http/reply'
import type { Style } from '#src/ingress/ingress'
import { get, post } from '#src/ingress/row'
import type { Row } from '#src/ingress/row'
import { refusalsBy } from '#src/refusals/rejection'
import { Admission } from './admission.ts'
import { rpcAnswerer } from './answerer.ts'
import { channelTools } from './channel-tools.ts'
import { Resources } from './resources.ts'
import { routeTools } from './route-tools.ts'
import { serverFactory } from './server.ts'
import type { ServerParts } from './server.ts'
import { submissionTools } from './submission-tools.ts'
import { HEADERS, Surface } from './surface.ts'
import type { SurfaceParts } from './surface.ts'
import type { Tool } from './tool.ts'

/** Makes the rows of /mcp over the acceptance stage. */
export const mcpStyle =
  (ports: McpPorts, options: McpOptions): Style =>
  (acceptance) =>
    surfaceRows(surfaceParts(acceptance, ports, options))

/** The rows of a surface. */
export const surfaceRows = (parts: SurfaceParts): readonly Row[] => [
  mcpRow(new Surface(parts)),
  metadataRow(parts.resource, parts.baseUrl),
]

const mcpRow = (surface: Surface): Row =>
  post('/mcp', {
    token: 'handler',
    headers: HEADERS,
    handle: (request) => surface.handle(request),
    answerer: rpcAnswerer(metadataUrlOf(surface.resource)),
  })

/** The path of a resource's metadata: its own path behind the well-known one. (RFC 9728, 3.1) */
function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource)
  return `${origin}${WELL_KNOWN}${pathname}`
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

/** The metadata of the resource, by which a client finds the authorization server. (RFC 9728) */
function metadataRow(resource: string, issuer: string): Row {
  const body = JSON.stringify({
    resource,
    resource_name: 'Heliograph',
    authorization_servers: [issuer],
    scopes_supported: ASSISTANT_SCOPES,
    bearer_methods_supported: ['header'],
  })
  const document = { contentType: JSON_TYPE, body, cache: 'max-age=3600' }
  return get(new URL(metadataUrlOf(resource)).pathname, {
    token: 'none',
    alsoAt: [WELL_KNOWN],
    handle: () => document,
    answerer: DOCUMENT,
  })
}

export interface McpPorts {
  readonly tokens: AccessTokens
  readonly bindings: Bindings
  readonly meter: Meter
  readonly logger: Logger
  readonly nowMs: NowMs
}

export interface McpOptions {
  /** The address of the gateway as its clients know it, without a slash at the end. */
  readonly baseUrl: string
  readonly version: string
}

/** Joins the parts of the surface. */
export function surfaceParts(
  acceptance: Acceptance,
  ports: McpPorts,
  options: McpOptions,
): SurfaceParts {
  const { tokens, bindings } = ports
  const { baseUrl, version } = options
  const resource = `${baseUrl}/mcp`
  const shared = [...submissionTools(acceptance.submissions), ...routeTools(acceptance)]
  const tools = [...shared, ...channelTools(bindings, ports.logger)]
  const parts = serverParts(tools, { acceptance, ports, version })
  const byGrant = serverFactory('grant', parts)
  const byPassword = serverFactory('password', { ...parts, tools: shared })
  return {
    admission: new Admission({ callerCheck: acceptance.callerCheck, tokens, resource }),
    bindings,
    baseUrl,
    resource,
    scopes: new Map(tools.map(({ name, scopes }) => [name, scopes])),
    serverOf: (call) => (call.opening === 'grant' ? byGrant(call) : byPassword(call)),
  }
}

interface PartsOf {
  readonly acceptance: Acceptance
  readonly ports: McpPorts
  readonly version: string
}

function serverParts(tools: readonly Tool[], { acceptance, ports, version }: PartsOf): ServerParts {
  const { meter, logger, bindings } = ports
  const refusalOf = refusalsBy(ports.nowMs)
  const calls = new Map(
    tools.map(({ name }) => [name, meter.counter('tool_calls_total', { tool: name })]),
  )
  return {
    version,
    tools,
    resources: new Resources({ acceptance, bindings }),
    called: (tool, refusal) => {
      calls.get(tool)?.()
      if (refusal !== undefined) meter.counter('refused_total', { code: refusal.code })() // meter/1
    },
    refusalOf: (tool, error) =>
      refusalOf(error, (defect) => logger.error('a tool failed', { tool, ...defect })),
  }
}
