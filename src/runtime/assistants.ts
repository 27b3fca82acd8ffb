// The surface for AI assistants, where it is switched on.

import type { AccessTokens, Bindings } from '#domain/assistants'
import type { Style } from '#src/ingress/ingress'
import type { Config } from '#src/config/config'
import type { BackendEdge } from './backend.ts'

export interface AssistantPorts {
  readonly tokens: AccessTokens
  readonly bindings: Bindings
}

/**
 * No style where assistants are not let in. The protocol's library is loaded only where they are:
 * it costs 0.2 s of CPU and 27 MB.
 */
export async function assistantStyles(
  { assistants, statusRetentionMs }: Pick<Config, 'assistants' | 'statusRetentionMs'>,
  { logger, meter }: Pick<BackendEdge, 'logger' | 'meter'>,
  { version, ...ports }: AssistantPorts & { readonly version: string },
): Promise<readonly Style[]> {
  if (assistants === undefined) return []
  const { baseUrl } = assistants
  const { mcpStyle } = await import('#src/mcp/rows')
  return [mcpStyle({ ...ports, logger, meter }, { baseUrl, version, statusRetentionMs })]
}

/** Nobody has a grant: there is no authorization server yet, so tokens of none are good. */
export const NO_GRANTS: AssistantPorts = {
  tokens: { verify: () => Promise.resolve(undefined) },
  bindings: {
    ofGrant: () => Promise.resolve([]),
    unbind: () => Promise.resolve(false),
    start: () => Promise.reject(new Error('nobody has a grant')),
    state: () => Promise.resolve({ kind: 'unknown' }),
  },
}
