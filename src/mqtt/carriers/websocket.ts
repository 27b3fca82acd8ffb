// Carries MQTT in binary WebSocket messages, at GET /mqtt with the subprotocol mqtt.
//
// Invariants:
//   mqtt-websocket/1. A carrier never uses its socket after the close event.

import type { WebSocket } from 'uWebSockets.js'

import type { Slot } from '#domain/bounds/slots'
import type { Listener } from '#src/doors/door'
import { mountEndpoint } from '#src/transports/carriers/upgrade'
import type { Endpoint, Room, UpgradePorts } from '#src/transports/carriers/upgrade'
import { HELD_MAX } from '#src/mqtt/bounds'
import { MQTT_PATH } from '#src/mqtt/carrier'
import type { CarrierHandle, MqttCarrier } from '#src/mqtt/carrier'
import { PACKET_BYTES_MAX } from '#src/mqtt/codec'

interface MqttWebSocketPorts extends UpgradePorts {
  readonly open: (carrier: MqttCarrier, openingMs: number) => CarrierHandle
}

const PROTOCOL = 'mqtt'
/** The library's longest wait for a silent socket. The session has the client's own keep alive. */
const IDLE_SECONDS = 960
const UNSUPPORTED_DATA = 1003
const GOING_AWAY = 1001

interface Socket {
  readonly carrier: WebSocketCarrier
}

/**
 * A first number of clients may send the largest packet in one message; the others the largest
 * CONNECT and submission. (upgrade/2)
 */
const ROOMS: readonly [Room, Room] = [
  { messageBytesMax: PACKET_BYTES_MAX + 16_384, bounds: { total: 512, perAddress: 128 } },
  { messageBytesMax: 40_960, bounds: { total: 6_144, perAddress: 3_072 } },
]

/** Mounts the endpoint; the application answers every other request and owns the connections. */
export function createMqttWebSocketListener(ports: MqttWebSocketPorts): Listener {
  mountEndpoint<Socket>(endpoint(ports.open), ports)
  return {
    name: 'mqtt-websocket',
    listen: () => ports.host.listen(),
    reload: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

const endpoint = (open: MqttWebSocketPorts['open']): Endpoint<Socket> => ({
  path: MQTT_PATH,
  protocol: PROTOCOL,
  rooms: ROOMS,
  dataOf: ({ address, slot }) => ({ carrier: new WebSocketCarrier(address, slot) }),
  maxBackpressure: HELD_MAX,
  closeOnBackpressureLimit: true,
  idleTimeout: IDLE_SECONDS,
  sendPingsAutomatically: true,
  open: (ws) => ws.getUserData().carrier.begin(ws, open),
  message: (ws, message, isBinary) => {
    // The library takes the bytes back when this returns.
    if (isBinary) ws.getUserData().carrier.handle?.receive(Buffer.from(message.slice(0)))
    else ws.end(UNSUPPORTED_DATA)
  },
  drain: (ws) => ws.getUserData().carrier.handle?.drained(ws.getBufferedAmount()),
  close: (ws) => ws.getUserData().carrier.closed(),
})

class WebSocketCarrier implements MqttCarrier {
  readonly address: string
  readonly #slot: Slot
  /** Undefined before the socket is open, and from its close event on. (mqtt-websocket/1) */
  #ws: WebSocket<Socket> | undefined
  #handle: CarrierHandle | undefined

  constructor(address: string, slot: Slot) {
    this.address = address
    this.#slot = slot
  }

  get handle(): CarrierHandle | undefined {
    return this.#handle
  }

  begin(ws: WebSocket<Socket>, open: MqttWebSocketPorts['open']): void {
    this.#ws = ws
    this.#handle = open(this, 0)
  }

  closed(): void {
    this.#ws = undefined // mqtt-websocket/1
    this.#slot.release()
    this.#handle?.closed()
  }

  send(bytes: Buffer): number | 'closed' {
    this.#ws?.send(bytes, true)
    return this.#ws?.getBufferedAmount() ?? 'closed'
  }

  /** The library reads on; what the connection then holds has a bound of its own. */
  setReading(): void {}

  close(): void {
    this.#ws?.end(GOING_AWAY)
  }

  cut(): void {
    this.#ws?.close()
  }
}
