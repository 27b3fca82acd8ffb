// Upgrades a request to a WebSocket, for every carrier over one: the subprotocol, the client's
// address and its slot come first, and a refusal has the form of every other one.
//
// Invariants:
//   upgrade/1. The request is read before the library gets control back, and only strings of it are
//              kept.

import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t } from 'uWebSockets.js'

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Slot } from '#domain/bounds/slots'
import type { ConnectionLimits } from '#src/doors/connection-limits'

/** The parts of a request from which ingress reads the client's address. */
export interface AddressSource {
  socketAddress(): string
  headerLines(name: string): string
}

/** The HTTP listener, whose port and certificate serve WebSockets too. */
export interface WssHost {
  /** Calls `apply` now, and again with every application that replaces this one. */
  mount(apply: (app: TemplatedApp) => void): void
  /** Binds the port once and gives it. */
  listen(): Promise<number>
}

export interface UpgradePorts {
  readonly host: WssHost
  readonly limits: ConnectionLimits
  /** The address of the device, also behind a trusted proxy. */
  readonly clientAddress: (source: AddressSource) => string
  /** The answer to a refused upgrade, in the form of every refusal. */
  readonly refuseUpgrade: (refusal: Fault, header: (name: string) => string) => UpgradeRefusal
  /** Called for each connection that becomes a WebSocket. */
  readonly upgraded: () => void
}

export interface UpgradeRefusal {
  readonly statusLine: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** A request for a WebSocket. */
export interface UpgradeRequest {
  readonly response: HttpResponse
  readonly request: HttpRequest
  readonly context: us_socket_context_t
  /** The subprotocol that the client must offer. */
  readonly protocol: string
}

/** The client of a WebSocket that is about to open. */
export interface UpgradedClient {
  readonly address: string
  /** The Authorization header, '' without one. A secret. */
  readonly authorization: string
  readonly slot: Slot
}

const RETRY_AFTER_MS = 5_000

/** Upgrades the request, or refuses it. `dataOf` makes what the library keeps with the socket. */
export function upgradeTo<Data>(
  { response, request, context, protocol }: UpgradeRequest,
  { limits, clientAddress, refuseUpgrade, upgraded }: UpgradePorts,
  dataOf: (client: UpgradedClient) => Data,
): void {
  const header = (name: string): string => request.getHeader(name)
  const refused = (refusal: Fault): void => refuse(response, refuseUpgrade(refusal, header))
  if (!offers(header('sec-websocket-protocol'), protocol)) {
    limits.refused('missing_websocket_subprotocol')
    const detail = `the WebSocket subprotocol ${protocol} is required`
    return refused(fault('missing_websocket_subprotocol', { detail }))
  }
  const address = clientAddress(sourceOf(response, request))
  const slot = limits.take(address)
  if (typeof slot === 'string') return refused(fault(slot, { retryAfterMs: RETRY_AFTER_MS }))
  const data = dataOf({ address, authorization: header('authorization'), slot })
  const [key, extensions] = [header('sec-websocket-key'), header('sec-websocket-extensions')]
  response.upgrade<Data>(data, key, protocol, extensions, context)
  upgraded()
}

const offers = (names: string, protocol: string): boolean =>
  names.split(',').some((name) => name.trim() === protocol)

const decoder = new TextDecoder()

/** Returns the address of a request; callers use it before they return. (upgrade/1) */
function sourceOf(response: HttpResponse, request: HttpRequest): AddressSource {
  return {
    socketAddress: () => decoder.decode(response.getRemoteAddressAsText()),
    headerLines: (name) => {
      const lines: string[] = []
      request.forEach((key, value) => {
        if (key === name) lines.push(value)
      })
      return lines.join(', ')
    },
  }
}

function refuse(response: HttpResponse, { statusLine, headers, body }: UpgradeRefusal): void {
  response.cork(() => {
    response.writeStatus(statusLine)
    for (const [name, value] of headers) response.writeHeader(name, value)
    response.end(body)
  })
}
