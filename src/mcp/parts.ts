// The surface of a gateway: its tools and resources over the acceptance stage.

import type { AccessTokens, Bindings } from '#domain/assistants'
import type { Logger, Meter } from '#domain/telemetry'
import type { Acceptance } from '#src/acceptance/acceptance'
import { Admission } from './admission.ts'
import { channelTools } from './channel-tools.ts'
import { mappingTools } from './mapping-tools.ts'
import { readingTools } from './reading-tools.ts'
import { ruleTools } from './rule-tools.ts'
import { Resources } from './resources.ts'
import { serverFactory } from './server.ts'
import type { ServerParts } from './server.ts'
import { submissionTools } from './submission-tools.ts'
import type { SurfaceParts } from './surface.ts'
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

/** Joins the parts of the surface. */
export function surfaceParts(
  acceptance: Acceptance,
  ports: McpPorts,
  options: McpOptions,
): SurfaceParts {
  const { tokens, bindings } = ports
  const { baseUrl, version } = options
  const resource = `${baseUrl}/mcp`
  const shared = [
    ...submissionTools(acceptance.submissions),
    ...readingTools({ acceptance, ...options }),
    ...ruleTools({ acceptance, ...options }),
    ...mappingTools(acceptance),
  ]
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
    report: (tool, defect) => logger.error('a tool failed', { tool, ...defect }),
  }
}
