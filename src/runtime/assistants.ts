// Composes the routes for AI assistants and their authorization server, if settings enable them.

import type { Style } from '#src/ingress/ingress'
import type { Config } from '#src/config/config'
import type { Backend, BackendEdge } from './backend.ts'

export interface AssistantParts {
  readonly backend: Pick<Backend, 'stores'>
  readonly version: string
}

/**
 * Returns no style where the settings turn assistants off, and loads none of the libraries then:
 * they cost 0.2 s of CPU and 27 MB.
 */
export async function assistantStyles(
  { assistants, statusRetentionMs }: Pick<Config, 'assistants' | 'statusRetentionMs'>,
  { logger, meter, runtime }: Pick<BackendEdge, 'logger' | 'meter' | 'runtime'>,
  { backend, version }: AssistantParts,
): Promise<readonly Style[]> {
  if (assistants === undefined) return []
  const { baseUrl, registration, pages } = assistants
  const { mcpStyle } = await import('#src/mcp/rows')
  const { authorizationStyle } = await import('#src/authorization/rows')
  const { assistantsOf } = await import('#src/authorization/server')
  const { authorization: records, bindings } = backend.stores
  const ports = { records, bindings, runtime }
  const options = { baseUrl, resource: `${baseUrl}/mcp`, registration, pages }
  return [
    authorizationStyle({ ...ports, logger }, options),
    mcpStyle(
      { ...assistantsOf(ports, { baseUrl }), logger, meter },
      { baseUrl, version, statusRetentionMs },
    ),
  ]
}
