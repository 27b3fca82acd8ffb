// The frontend: ingress, acceptor and sessions on the thread that answers requests.

import packageJson from '#package' with { type: 'json' }

import type { Backend, BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { createIngress } from '#src/ingress/ingress'
import type { IngressOptions } from '#src/ingress/ingress'
import { profileOf } from './gateway-profile.ts'
import { Acceptor } from '#src/stream/acceptor'
import { metricsText } from '#src/telemetry/metrics'
import type { Metrics } from '#src/telemetry/metrics'
import { createSessions } from '#src/transports/sessions'
import { mountWss } from '#src/transports/wss'

export interface Frontend {
  /** Gives the bound port. */
  listen(): Promise<number>
  /** No new requests; those that were taken are answered, and their submissions are in the log. */
  drain(): Promise<void>
  /** Tells the devices to come back, then ends everything. */
  close(): Promise<void>
  /** What was accepted here is applied, or others have had the time to. */
  applied(): Promise<void>
}

export interface FrontendEdge extends BackendEdge {
  readonly metrics: Metrics
}

/** Shared by all lanes; each has room for several batches. */
const IN_FLIGHT_BYTES_MAX = 128 * 2 ** 20
const LANE_BYTES_MIN = 2 ** 20
const CHANNEL_IN_FLIGHT_MAX = 4096
const UNAPPLIED_MAX = 500_000
/** Longer than lanes take to move to another node and it to apply what waits in them. */
const APPLIED_MS_MAX = 3_000
const VERSION = packageJson.version

/** Joins the stages of this thread with what stands behind them. */
export function composeFrontend(config: Config, edge: FrontendEdge, backend: Backend): Frontend {
  const { log, meter, metrics, runtime } = edge
  const { nowMs, monotonicMs, soon, random, entropy } = runtime
  const { bus, stores, durability, probes, roundMs } = backend
  const callers = (): number => ingress.connections.open
  const acceptor = new Acceptor(
    { log: backend.log, bus, meter, soon, timers: runtime, monotonicMs, callers },
    {
      roundMs,
      lanes: config.lanes,
      laneBytesMax: Math.max(LANE_BYTES_MIN, IN_FLIGHT_BYTES_MAX / config.lanes),
      channelInFlightMax: CHANNEL_IN_FLIGHT_MAX,
      unappliedMax: UNAPPLIED_MAX,
    },
  )
  backend.answerFor(acceptor)
  let boundPort = config.http.port
  const shared = { bus, meter, log, nowMs, timers: runtime, entropy }
  const ingress = createIngress(
    {
      ...shared,
      ...stores,
      monotonicMs,
      sink: acceptor,
      probes,
      durability,
      metricsText: async () => metricsText([await metrics.part(), ...(await backend.metrics())]),
      profile: () => profileOf(config, boundPort, VERSION),
    },
    ingressOptions(config),
  )
  const sessions = createSessions(
    { ...shared, ...stores, feed: stores.read, random, soon },
    { token: config.token, budget: ingress.budget },
  )
  if (config.privateTransports.wss && config.roles.ingress) {
    const { clientAddress, connections } = ingress
    mountWss(ingress.http.app, sessions, { clientAddress, upgraded: () => connections.upgraded() })
  }
  backend.onLoss(() => sessions.recheck())
  return {
    listen: async () => (boundPort = await ingress.listen()),
    drain: async () => {
      await ingress.drain()
      await acceptor.drain()
    },
    close: async () => {
      await sessions.drain()
      await sessions.close()
      ingress.close()
    },
    applied: () => acceptor.applied(Math.min(APPLIED_MS_MAX, config.drainTimeoutMs / 2)),
  }
}

function ingressOptions(config: Config): IngressOptions {
  const { http, tls, token, trustedProxies, passwordBudget, statusRetentionMs } = config
  return {
    http,
    tls,
    token,
    trustedProxies,
    passwordBudget,
    statusRetentionMs,
    version: VERSION,
    isObservedOnly: !config.roles.ingress,
    // The processes of a cluster on one machine stand behind one port.
    isPortShared: config.cluster !== undefined,
  }
}
