// Upgrades a request to a WebSocket, for every carrier over one: the subprotocol, the client's
// address and its slot come first, and a refusal has the form of every other one.
//
// Invariants:
//   upgrade/1. The request is read before the library gets control back, and only strings of it are
//              kept.
//   upgrade/2. The library keeps a message until it is whole, and its memory after that, and shows
//              neither: so each WebSocket counts with twice the longest message that it takes. A
//              bounded number takes long ones; those beyond take shorter ones, or are refused.

import type {
  HttpRequest,
  HttpResponse,
  TemplatedApp,
  WebSocketBehavior,
  us_socket_context_t,
} from 'uWebSockets.js'

import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { Slots } from '#domain/bounds/slots'
import type { Slot, SlotBounds } from '#domain/bounds/slots'
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

/** How many connections take messages of so many bytes. */
export interface Room {
  readonly messageBytesMax: number
  readonly bounds: SlotBounds
}

/** A WebSocket at a path. */
export interface Endpoint<Data> extends Omit<WebSocketBehavior<Data>, 'upgrade'> {
  readonly path: string
  /** The subprotocol that the client must offer. */
  readonly protocol: string
  /** The longest messages first. (upgrade/2) */
  readonly rooms: readonly [Room, Room]
  /** Makes what the library keeps with the socket. */
  readonly dataOf: (client: UpgradedClient) => Data
}

/** A request for a WebSocket. */
interface UpgradeRequest {
  readonly response: HttpResponse
  readonly request: HttpRequest
  readonly context: us_socket_context_t
  readonly protocol: string
  readonly slots: Slots
  /** True when another room may take it. */
  readonly hasNext: boolean
}

/** The client of a WebSocket that is about to open. */
export interface UpgradedClient {
  readonly address: string
  /** The Authorization header, '' without one. A secret. */
  readonly authorization: string
  readonly slot: Slot
}

const RETRY_AFTER_MS = 5_000
/** The library's buffer of a message grows to twice of what is in it. */
const GROWTH = 2

/** Mounts the endpoint: the library has one length of messages for each pattern of a path. */
export function mountEndpoint<Data>(
  { path, protocol, rooms, dataOf, ...behavior }: Endpoint<Data>,
  ports: UpgradePorts,
): void {
  const open = rooms.map(({ messageBytesMax, bounds }, index) => {
    const slots = new Slots(bounds)
    ports.limits.reserves(() => slots.taken * GROWTH * messageBytesMax) // upgrade/2
    return { messageBytesMax, slots, hasNext: index < rooms.length - 1 }
  })
  ports.host.mount((app) => {
    for (const { messageBytesMax: maxPayloadLength, slots, hasNext } of open) {
      app.ws<Data>(hasNext ? path : anyBeside(path), {
        ...behavior,
        maxPayloadLength,
        upgrade: (response, request, context) => {
          const asked = { response, request, context, protocol, slots, hasNext }
          if (request.getUrl() !== path) request.setYield(true)
          else upgrade(asked, ports, dataOf)
        },
      })
    }
  })
}

/** A pattern that takes the path too, behind the path itself. */
const anyBeside = (path: string): string => path.replace(/[^/]+$/, ':websocket')

/** Upgrades the request, leaves it to the next room, or refuses it. */
function upgrade<Data>(
  { response, request, context, protocol, slots, hasNext }: UpgradeRequest,
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
  const room = slots.take(address)
  if (typeof room === 'string' && hasNext) return void request.setYield(true)
  if (typeof room === 'string') {
    limits.refused(room)
    return refused(fault(room, { retryAfterMs: RETRY_AFTER_MS }))
  }
  const slot = limits.take(address)
  if (typeof slot === 'string') {
    room.release()
    return refused(fault(slot, { retryAfterMs: RETRY_AFTER_MS }))
  }
  const both = new BothSlots(slot, room)
  const data = dataOf({ address, authorization: header('authorization'), slot: both })
  const [key, extensions] = [header('sec-websocket-key'), header('sec-websocket-extensions')]
  response.upgrade<Data>(data, key, protocol, extensions, context)
  upgraded()
}

/** No closure: it would keep the request and its response as long as the connection. (upgrade/1) */
class BothSlots implements Slot {
  readonly #slot: Slot
  readonly #room: Slot

  constructor(slot: Slot, room: Slot) {
    this.#slot = slot
    this.#room = room
  }

  release(): void {
    this.#slot.release()
    this.#room.release()
  }
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
