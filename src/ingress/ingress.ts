// Ingress: HTTP in front, acceptance behind. It translates requests into calls of that stage and
// outcomes into answers.
//
//   src/http               requests and answers over uWebSockets.js
//   listeners.ts           the listeners
//   pipeline.ts            the checks that every row shares
//   row.ts, request.ts     the types of a route and of a handler's request
//   routes.ts              the table: native-rows.ts, probes.ts
//   reader.ts              bodies
//   answerer.ts            answers
//   mount.ts               handlers written for node:http

import type { Fault } from '#domain/fault'
import type { NowMs, Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'
import type { Acceptance } from '#src/acceptance/acceptance'
import { hexSource } from '#src/acceptance/random'
import type { Answerer } from './answerer.ts'
import { clientAddress } from '#src/http/client-address'
import type { ClientAddress } from '#src/http/client-address'
import { Connections } from '#src/http/connections'
import { Compression } from './compression.ts'
import { createListener, sumOf } from './listeners.ts'
import type { Listener, ListenerOptions } from './listeners.ts'
import type { Http, HttpOptions } from '#src/http/http'
import { headersOf, statusLine } from '#src/http/reply'
import { failure, requestIdFrom } from './answerer.ts'
import { observationTable, routeTable } from './routes.ts'
import type { ObservationPorts } from './routes.ts'
import type { Row } from './row.ts'
import type { StaticFile } from './static-files.ts'

interface IngressPorts extends ObservationPorts {
  readonly acceptance: Acceptance
  /** False while the process starts: requests get 503. Absent when always true. */
  readonly isOpen?: () => boolean
  readonly meter: Meter
  readonly logger: Logger
  readonly nowMs: NowMs
  readonly timers: Timers
  readonly entropy: Runtime['entropy']
}

export interface IngressOptions {
  readonly http: Address
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined
  readonly trustedProxies: readonly string[]
  readonly version: string
  /** The files of the console; absent for a gateway without one. */
  readonly console?: readonly StaticFile[] | undefined
  /** Further routes, for instance an imitated tool's. */
  readonly styles?: readonly Style[]
  /** One style at the root of a listener or host name of its own. */
  readonly root?: RootStyle | undefined
  /** True for an ingress that serves only the routes about the gateway itself. */
  readonly isObservedOnly?: boolean
  /** See HttpOptions. */
  readonly isPortShared?: boolean
  /** True when callers know the gateway by an https address. */
  readonly isHttps?: boolean
}

/** A way in over HTTP beside the native one: rows in front of the acceptance stage. */
export type Style = (acceptance: Acceptance) => readonly Row[]

/** A style whose clients allow no path prefix. */
export interface RootStyle {
  /** A listener of its own. */
  readonly address?: Address | undefined
  /** A name of the main listener, in lower case: requests for it reach nothing else. */
  readonly hostName?: string | undefined
  readonly style: Style
  /** The answerer for unknown paths. */
  readonly unknown: Answerer<never>
}

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Ingress {
  /** The HTTP listener, on which src/transports mounts its WebSocket. */
  readonly http: Http
  readonly connections: Connections
  /** The address of a caller, also behind a trusted proxy. */
  readonly clientAddress: ClientAddress
  /** The answer to an upgrade that is refused; counts it. */
  readonly refuseUpgrade: (refusal: Fault, header: (name: string) => string) => UpgradeRefusal
  /** Binds, once; gives the bound port. */
  listen(): Promise<number>
  /** Reads the certificate anew; see Http. */
  reload(): Promise<void>
  /** Refuses new submissions with 503; resolves when every request in flight is answered. */
  drain(): Promise<void>
  /** Ends the streams of mounted handlers: the last step of a drain. */
  endMounted(): void
  close(): void
}

/** An answer to an upgrade, in the parts that the library writes. */
export interface UpgradeRefusal {
  readonly statusLine: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** The library cuts a silent connection after 8 to 12 s; the answer 408 must come before. */
const BODY_TIMEOUT_MS = 7_500

/** Throws a sentence for the operator when certificate or key cannot be used. */
export function createIngress(ports: IngressPorts, options: IngressOptions): Ingress {
  const { meter, acceptance } = ports
  const addressOf = clientAddress(options.trustedProxies)
  const newHex32 = hexSource(ports.entropy)
  const compression = new Compression()
  const shared = { ...ports, newHex32, callerCheck: acceptance.callerCheck, compression }
  const open = (listener: ListenerOptions): Listener =>
    createListener(listener, shared, {
      ...httpOptions(ports, options, addressOf),
      upgraded: () => connections.upgraded(),
    })
  const root = options.root && rootOf(options.root, acceptance)
  const main = open({
    address: { ...options.http, setting: 'SERVICE_HTTP_ADDR' },
    rows: allRows(ports, options),
    named: root?.named,
  })
  const listeners = root?.listener === undefined ? [main] : [main, open(root.listener)]
  const connections = new Connections(
    ...listeners.map(
      ({ http }) =>
        (apply: Parameters<Http['mount']>[0]) =>
          http.mount(apply),
    ),
  )
  meter.gauge('http_connections', {}, () => connections.open)
  meter.gauge('requests_in_flight', {}, () => sumOf(listeners, ({ inFlight }) => inFlight))
  meter.gauge('request_body_bytes', {}, () => sumOf(listeners, ({ bodyBytes }) => bodyBytes))
  meter.gauge('answer_unread_bytes', {}, () => sumOf(listeners, ({ unread }) => unread.bytes))
  meter.gauge('answers_compressing', {}, () => compression.running)
  meter.gauge('mounted_streams', {}, () => sumOf(listeners, (http) => http.mountedStreams.size))
  let bound: Promise<number> | undefined
  return {
    http: main.http,
    connections,
    clientAddress: addressOf,
    refuseUpgrade: (refusal, header) => {
      const requestId = requestIdFrom(header('x-request-id'), newHex32)
      const asking = { requestId, acceptLanguage: header('accept-language') }
      const reply = failure(refusal, asking)
      main.count(reply)
      const { status, body } = reply
      const headers = headersOf(reply, requestId, main.http.commonHeaders)
      return { statusLine: statusLine(status), headers, body }
    },
    listen: () => (bound ??= listenAll(listeners)),
    reload: async () => {
      await Promise.all(listeners.map(({ http }) => http.reload()))
    },
    drain: async () => {
      await Promise.all(listeners.map(({ http }) => http.drain()))
    },
    endMounted: () => {
      for (const { http } of listeners) http.endMounted()
    },
    close: () => {
      for (const { http } of listeners) http.close()
    },
  }
}

/** Binds all listeners; gives the port of the first. */
async function listenAll(listeners: readonly Listener[]): Promise<number> {
  const [port = 0] = await Promise.all(listeners.map((listener) => listener.listen()))
  return port
}

function httpOptions(
  { timers, monotonicMs, meter }: IngressPorts,
  { tls, isPortShared = false, isHttps = false }: IngressOptions,
  addressOf: ClientAddress,
): HttpOptions {
  return {
    tls,
    timers,
    monotonicMs,
    isPortShared,
    isHttps,
    clientAddress: addressOf,
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    answerCut: meter.counter('answers_cut_total', {}),
  }
}

function allRows(ports: IngressPorts, options: IngressOptions): readonly Row[] {
  if (options.isObservedOnly === true) return observationTable(ports)
  const styles = options.styles?.flatMap((style) => style(ports.acceptance))
  return routeTable({ ...ports, ...options }, styles)
}

/** The places of a style at the root: its own listener, a host name of the main one, or both. */
function rootOf(
  { address, hostName, style, unknown }: RootStyle,
  acceptance: Acceptance,
): Pick<ListenerOptions, 'named'> & { readonly listener: ListenerOptions | undefined } {
  const served = { rows: style(acceptance), unknown }
  return {
    listener: address && { address: { ...address, setting: 'SERVICE_COMPAT_ADDR' }, ...served },
    named: hostName === undefined ? undefined : { hostName, ...served },
  }
}
