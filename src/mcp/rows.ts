// The surface for AI assistants: the Model Context Protocol over the listener of the gateway.
// (Specification: MCP; docs/decisions.md 15)
//
// Invariants:
//   mcp/1. A tool calls the acceptance stage as a route does. No rule about a submission stands
//          here.
//   mcp/2. Each request stands alone: nothing is kept between two of them, so any node answers any.
//   mcp/3. Neither a token nor a password reaches a log, an answer or a URL.

import { ASSISTANT_SCOPES } from '#domain/assistants'
import { DOCUMENT } from '#src/ingress/answerer'
import { JSON_TYPE } from '#src/http/reply'
import type { Style } from '#src/ingress/ingress'
import { get, post } from '#src/ingress/row'
import type { Row } from '#src/ingress/row'
import { rpcAnswerer } from './answerer.ts'
import { surfaceParts } from './parts.ts'
import type { McpOptions, McpPorts } from './parts.ts'
import { HEADERS, Surface } from './surface.ts'
import type { SurfaceParts } from './surface.ts'

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
