// Composes the frontend: ingress, acceptor and sessions on the thread that answers requests.

import { createRequire } from 'node:module'

import type { CarrierName } from '#domain/carrier'
import { assistantStyles } from './assistants.ts'
import type { Backend, BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { compatibilityStyles, styleAtRoot } from '#src/compat/styles'
import { createIngress } from '#src/ingress/ingress'
import type { IngressOptions, Style } from '#src/ingress/ingress'
import { profileOf } from './gateway-profile.ts'
import type { BoundPorts } from './gateway-profile.ts'
import { composeListeners } from './listeners.ts'
import { composeAcceptance, composeAcceptor, composeSessions } from './stages.ts'
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

export interface FrontendEdge extends BackendEdge {
  readonly metrics: Metrics
}

/** Another node takes less time to get this node's lanes and apply what waits in them. */
const APPLIED_MS_MAX = 3_000
// An import would make the build copy the file, and the copy would begin another package.
const { version: VERSION } = createRequire(import.meta.url)('#package') as {
  readonly version: string
}

/** Joins the stages of this thread with the backend. */
export async function composeFrontend(
  config: Config,
  edge: FrontendEdge,
  backend: Backend,
): Promise<Frontend> {
  const assistants = await assistantStyles(config, edge, { backend, version: VERSION })
  const { logger, meter, metrics, runtime } = edge
  const { durability, probes } = backend
  const callers = (): number => ingress.connections.open
  const acceptor = composeAcceptor(config, edge, { backend, callers })
  const acceptance = composeAcceptance(config, edge, { backend, sink: acceptor })
  const ports = { http: config.http.port, carriers: new Map<CarrierName, number>() }
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
      profile: () => profileOf(config, ports, VERSION),
    },
    ingressOptions(config, assistants),
  )
  backend.onLoss(() => acceptance.recheck())
  const sessions = composeSessions(edge, { backend, acceptance, lanes: config.lanes })
  const listeners = composeListeners(config, edge, { ingress, sessions })
  const remoteMetrics = async (): Promise<readonly MetricsPart[]> => {
    const own = listeners.map((listener) => listener.metrics?.() ?? [])
    return (await Promise.all([backend.metrics(), ...own])).flat()
  }
  return {
    listen: async () => {
      // HTTP comes last: its profile names the ports of the others.
      for (const listener of listeners.toReversed()) {
        ports.carriers.set(listener.carrier, await listener.listen())
      }
      ports.http = await ingress.listen()
      return ports
    },
    reload: async () => {
      const reloads = [ingress.reload(), ...listeners.map((listener) => listener.reload())]
      const results = await Promise.allSettled(reloads)
      const failed = results.filter((result) => result.status === 'rejected')
      for (const { reason } of failed) {
        logger.error('a certificate was not reloaded', { reason: reasonOf(reason) })
      }
      if (failed.length === 0) logger.info('certificates reloaded')
    },
    open: () => {
      isOpen = true
    },
    drain: async () => {
      await ingress.drain()
      await acceptor.drain()
      ingress.endMounted()
    },
    drainSessions: () => sessions.drain(),
    close: async () => {
      await sessions.close()
      await Promise.all(listeners.map((listener) => listener.close()))
      ingress.close()
      acceptance.close()
    },
    applied: () => acceptor.applied(Math.min(APPLIED_MS_MAX, config.drainTimeoutMs / 2)),
  }
}

function ingressOptions(config: Config, assistants: readonly Style[]): IngressOptions {
  const { http, tls, trustedProxies, statusRetentionMs, historyRetentionMs } = config
  const kept = { keptMs: historyRetentionMs.messagesAndEvents }
  const root = config.roles.ingress ? config.compatibilityRoot : undefined
  return {
    http,
    tls,
    trustedProxies,
    statusRetentionMs,
    version: VERSION,
    styles: [...compatibilityStyles(kept), ...assistants],
    root: root && { ...root, ...styleAtRoot(root.style, kept) },
    isObservedOnly: !config.roles.ingress,
    // The processes of a cluster on one machine share one port.
    isPortShared: config.cluster !== undefined,
    isHttps: config.publicBaseUrl !== undefined,
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown')
