// Composes the frontend: ingress, acceptor and sessions on the thread that answers requests.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import type { Door } from '#src/doors/door'
import type { Backend, BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { compatibilityStyles, styleAtRoot } from '#src/compat/styles'
import { createIngress } from '#src/ingress/ingress'
import type { IngressOptions, Style } from '#src/ingress/ingress'
import { readStaticFiles } from '#src/ingress/static-files'
import type { StaticFile } from '#src/ingress/static-files'
import { profileOf } from './gateway-profile.ts'
import type { BoundPorts } from './gateway-profile.ts'
import { composeSessionDoors, httpDoor } from './doors.ts'
import type { MqttParts } from './mqtt-doors.ts'
import { composeBridge, composeStages } from './stages.ts'
import { providerProfiles } from '#src/providers/providers'
import { metricsText } from '#src/telemetry/metrics'
import type { Metrics, MetricsPart } from '#src/telemetry/meter'

export interface Frontend {
  /**
   * Binds every port and gives the ports. Rejects with a sentence for the operator. Requests get
   * 503 until `open`.
   */
  listen(): Promise<BoundPorts>
  /** Reads every certificate again, for new connections. Logs one that it cannot use. */
  reload(): Promise<void>
  /** Begins to take requests. The caller waits until the lanes are taken and the log is applied. */
  open(): void
  /** Refuses new requests; answers the requests that it took, with their submissions in the log. */
  drain(): Promise<void>
  /**
   * Tells the devices to reconnect later; resolves when they have disconnected. Waits for no
   * request or turn.
   */
  drainSessions(): Promise<void>
  /** Ends everything. */
  close(): Promise<void>
  /**
   * Waits until the submissions accepted here are applied, or until other nodes have had time to
   * apply them.
   */
  applied(): Promise<void>
}

interface FrontendEdge extends BackendEdge {
  readonly metrics: Metrics
}

/** Another node takes less time to get this node's lanes and apply what waits in them. */
const APPLIED_MS_MAX = 3_000
const require = createRequire(import.meta.url)
// An import would make the build copy the file, and the copy would begin another package.
const { version: VERSION } = require('#package') as { readonly version: string }
/** What the build makes of src/console, also for a gateway that runs from its sources. */
const CONSOLE_FOLDER = join(dirname(require.resolve('#package')), 'dist', 'console')

/** Joins the stages of this thread with the backend. */
export async function composeFrontend(
  config: Config,
  edge: FrontendEdge,
  backend: Backend,
): Promise<Frontend> {
  const assistants = await assistantStyles(config, edge, backend)
  const providers = await providerProfiles(config.providers, backend.stores.secrets)
  const { logger, meter, metrics, runtime } = edge
  const { durability, probes } = backend
  const callers = (): number => ingress.connections.open
  const { acceptor, acceptance, sessions } = composeStages(config, edge, { backend, callers })
  const ports = new Map([['http', config.http.port]])
  let isOpen = false
  const ingress = createIngress(
    {
      ...runtime,
      acceptance,
      isOpen: () => isOpen,
      meter,
      logger,
      timers: runtime,
      probes,
      durability,
      metricsText: async () => metricsText([await metrics.part(), ...(await remoteMetrics())]),
      profile: () => profileOf(config, ports, { version: VERSION, providers }),
    },
    { ...ingressOptions(config, assistants), console: await consoleFiles(config, edge) },
  )
  const ofSessions = composeSessionDoors(config, edge, { ingress, sessions })
  const requestParts = { ingress, backend, acceptance, isOpen: () => isOpen }
  const ofRequests = [httpDoor(ingress), ...(await mqttDoors(config, edge, requestParts))]
  const doors: readonly Door[] = [...ofRequests, ...ofSessions]
  const bridge = await composeBridge(config, edge, { ...acceptance, backend })
  const remoteMetrics = async (): Promise<readonly MetricsPart[]> => {
    const own = ofSessions.map((door) => door.metrics?.() ?? [])
    return (await Promise.all([backend.metrics(), ...own])).flat()
  }
  return {
    listen: async () => {
      // HTTP comes last: its profile names the ports of the others.
      for (const door of doors.toReversed()) ports.set(door.name, await door.listen())
      return ports
    },
    reload: async () => {
      const results = await Promise.allSettled(doors.map((door) => door.reload()))
      const failed = results.filter((result) => result.status === 'rejected')
      for (const { reason } of failed) {
        logger.error('a certificate was not reloaded', { reason: reasonOf(reason) })
      }
      if (failed.length === 0) logger.info('certificates reloaded')
    },
    open: () => {
      isOpen = true
      bridge?.start()
    },
    drain: async () => {
      await Promise.all([bridge?.stop(), ...ofRequests.map((door) => door.drain())])
      await acceptor.drain()
      ingress.endMounted()
    },
    drainSessions: async () => {
      await Promise.all(ofSessions.map((door) => door.drain()))
    },
    close: async () => {
      await bridge?.stop()
      await sessions.close()
      await Promise.all(doors.map((door) => door.close()))
      acceptance.close()
    },
    applied: () => acceptor.applied(Math.min(APPLIED_MS_MAX, config.drainTimeoutMs / 2)),
  }
}

function ingressOptions(config: Config, assistants: readonly Style[]): IngressOptions {
  const { http, tls, trustedProxies, historyRetentionMs, token } = config
  const kept = { keptMs: historyRetentionMs.messagesAndEvents, hasToken: token !== '' }
  const root = config.roles.ingress ? config.compatibilityRoot : undefined
  return {
    http,
    tls,
    trustedProxies,
    version: VERSION,
    styles: [...compatibilityStyles(kept), ...assistants],
    root: root && { ...root, ...styleAtRoot(root.style, kept) },
    isObservedOnly: !config.roles.ingress,
    // The processes of a cluster on one machine share one port.
    isPortShared: config.cluster !== undefined,
    isHttps: config.publicBaseUrl !== undefined,
  }
}

/** Returns none where no setting turns MQTT on, and loads none of its code then. */
async function mqttDoors(
  config: Config,
  edge: BackendEdge,
  parts: MqttParts,
): Promise<readonly Door[]> {
  const { plain, tls, overWebSocket } = config.mqtt
  const isOn = plain !== undefined || tls !== undefined || overWebSocket
  if (!config.roles.ingress || !isOn) return []
  const { composeMqttDoors } = await import('./mqtt-doors.ts')
  return composeMqttDoors(config, edge, parts)
}

/** Undefined for a gateway without a console. */
async function consoleFiles(
  config: Config,
  { logger }: FrontendEdge,
): Promise<readonly StaticFile[] | undefined> {
  if (!config.console || !config.roles.ingress) return undefined
  const files = await readStaticFiles(CONSOLE_FOLDER)
  if (files === undefined) {
    logger.warn('there is no console: `npm run build` makes it, SERVICE_CONSOLE=off expects none')
  }
  return files
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')

/**
 * The routes for AI assistants and their authorization server. Returns none where the settings turn
 * assistants off, and loads none of the libraries then: they cost 0.2 s of CPU and 27 MB.
 */
async function assistantStyles(
  { assistants }: Pick<Config, 'assistants'>,
  { logger, meter, runtime }: Pick<BackendEdge, 'logger' | 'meter' | 'runtime'>,
  { stores: { authorization: records, bindings } }: Pick<Backend, 'stores'>,
): Promise<readonly Style[]> {
  if (assistants === undefined) return []
  const { baseUrl, registration, pages } = assistants
  const { mcpStyle } = await import('#src/mcp/rows')
  const { authorizationStyle } = await import('#src/authorization/rows')
  const { assistantsOf } = await import('#src/authorization/server')
  const ports = { records, bindings, runtime }
  const { nowMs } = runtime
  const mcpPorts = { ...assistantsOf(ports, { baseUrl }), logger, meter, nowMs }
  const options = { baseUrl, resource: `${baseUrl}/mcp`, registration, pages }
  return [
    authorizationStyle({ ...ports, logger }, options),
    mcpStyle(mcpPorts, { baseUrl, version: VERSION }),
  ]
}
