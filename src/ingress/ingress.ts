// Ingress: HTTP in front, ports behind. Submissions leave it through SubmissionSink.
// (architecture.md 1)

import type { Bus, NowMs, Probe, SubmissionSink, Timers } from '#domain/ports'
import type {
  ChannelStore,
  DeviceStore,
  OperationStore,
  ReadStore,
  SubscriptionStore,
} from '#domain/store-ports'
import type { Runtime } from '#domain/runtime'
import type { Log, Meter } from '#domain/telemetry'
import { createAcceptance } from './admit.ts'
import { tokenCheck } from './authorize.ts'
import { createBudget } from './budget.ts'
import type { Budget, BudgetLimits } from './budget.ts'
import { clientAddress } from './client-address.ts'
import type { ClientAddress } from './client-address.ts'
import { Connections } from './connections.ts'
import { createCredentials } from './credentials.ts'
import { createHttp } from './http.ts'
import type { Http } from './http.ts'
import { createPasswordWork } from './password-work.ts'
import type { PasswordWork } from './password-work.ts'
import { Pipeline } from './pipeline.ts'
import { hexSource } from './random.ts'
import { withHead } from './route.ts'
import { observationTable, routeTable } from './routes.ts'

export interface IngressPorts {
  readonly sink: SubmissionSink
  readonly channels: ChannelStore
  readonly devices: DeviceStore
  readonly subscriptions: SubscriptionStore
  readonly read: ReadStore
  readonly operations: OperationStore
  readonly bus: Bus
  readonly probes: readonly Probe[]
  /** Prometheus text. */
  readonly metricsText: () => Promise<string>
  /** The data of GET /gateway/profile. */
  readonly profile: () => object
  /** How safe an accepted submission is right now, in words. */
  readonly durability: () => string
  readonly meter: Meter
  readonly log: Log
  readonly nowMs: NowMs
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number
  readonly timers: Timers
  readonly entropy: Runtime['entropy']
  /** Other than scrypt in tests only. */
  readonly passwordWork?: PasswordWork
}

export interface IngressOptions {
  readonly http: { readonly host: string; readonly port: number }
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined
  /** A secret. Empty: gateway token authentication is off. */
  readonly token: string
  readonly trustedProxies: readonly string[]
  readonly passwordBudget: BudgetLimits
  readonly statusRetentionMs: number
  readonly version: string
  /** Answers only what operators and devices ask the gateway itself. */
  readonly isObservedOnly?: boolean
  /** See HttpOptions. */
  readonly isPortShared?: boolean
}

export interface Ingress {
  /** Its `app` takes the WebSocket of src/transports. */
  readonly http: Http
  readonly connections: Connections
  /** Shared with the sessions: wrong gateway tokens count together, wherever they are tried. */
  readonly budget: Budget
  /** The address of a caller, also behind a trusted proxy. */
  readonly clientAddress: ClientAddress
  /** Gives the bound port. */
  listen(): Promise<number>
  /** New requests get 503 from now on; resolves when those in flight are answered. */
  drain(): Promise<void>
  close(): void
}

/** The library cuts a silent connection after 8 to 12 s; the answer 408 must come before. */
const BODY_TIMEOUT_MS = 7_500

export function createIngress(ports: IngressPorts, options: IngressOptions): Ingress {
  const { nowMs, monotonicMs, timers, entropy, meter, log, sink, channels, bus } = ports
  const { tls, isPortShared = false, isObservedOnly = false } = options
  const bodyTimeoutMs = BODY_TIMEOUT_MS
  const http = createHttp({ tls, timers, monotonicMs, isPortShared, bodyTimeoutMs })
  const connections = new Connections(http.app)
  const newHex32 = hexSource(entropy)
  const work = ports.passwordWork ?? createPasswordWork(entropy)
  const credentials = createCredentials({ channels, work, monotonicMs, timers, entropy })
  const acceptance = createAcceptance({ sink, meter, nowMs })
  const stopListening = bus.onNotice((notice) => {
    if (notice.kind === 'credentials-changed' || notice.kind === 'channel-deleted') {
      credentials.forget(notice.channelId)
    }
  })
  meter.gauge('credential_cache_entries', {}, () => credentials.size())
  meter.gauge('password_checks_waiting', {}, () => work.waiting())
  meter.gauge('http_connections', {}, () => connections.open)
  meter.gauge('requests_in_flight', {}, () => http.inFlight)
  meter.gauge('request_body_bytes', {}, () => http.bodyBytes)

  const callers = {
    budget: createBudget(options.passwordBudget, nowMs),
    clientAddress: clientAddress(options.trustedProxies),
  }
  const pipeline = new Pipeline({
    http,
    tokenCheck: tokenCheck(options.token),
    ...callers,
    newHex32,
    nowMs,
    meter,
    log,
  })
  const { statusRetentionMs, version } = options
  const routePorts = {
    ...ports,
    credentials,
    work,
    acceptance,
    newHex32,
    statusRetentionMs,
    version,
  }
  const routes = isObservedOnly ? observationTable(routePorts) : routeTable(routePorts)
  pipeline.mount(withHead(routes))
  return {
    http,
    connections,
    ...callers,
    listen: () => http.listen(options.http.host, options.http.port),
    drain: () => http.drain(),
    close() {
      stopListening()
      http.close()
    },
  }
}
