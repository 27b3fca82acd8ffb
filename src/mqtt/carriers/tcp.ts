// Carries MQTT over TCP, with or without TLS.
//
// Invariants:
//   mqtt-tcp/1. The gateway closes an ended connection soon, also when the client reads nothing.

import type { Socket } from 'node:net'

import type { Listener, ReadCertificate } from '#src/doors/door'
import type { Runtime } from '#domain/runtime'
import { createSocketListener } from '#src/doors/sockets'
import type { SocketPeer, SocketPorts } from '#src/doors/sockets'
import type { CarrierHandle, MqttCarrier } from '#src/mqtt/carrier'
import { CONNECT_WITHIN_MS } from '#src/mqtt/bounds'

interface MqttTcpPorts extends Pick<SocketPorts, 'limits' | 'runtime'> {
  readonly open: (carrier: MqttCarrier, openingMs: number) => CarrierHandle
}

interface MqttTcpOptions {
  readonly name: 'mqtt' | 'mqtts'
  readonly setting: string
  readonly host: string
  readonly port: number
  /** Undefined without TLS. */
  readonly certificate: ReadCertificate | undefined
  readonly isTrustedProxy: (address: string) => boolean
}

/** Milliseconds from the end of a session to the end of its connection. (mqtt-tcp/1) */
const LINGER_MS = 2_000

export const createMqttTcpListener = (options: MqttTcpOptions, ports: MqttTcpPorts): Listener =>
  createSocketListener(
    { ...options, alpn: 'mqtt', openWithinMs: CONNECT_WITHIN_MS },
    { ...ports, serve: (socket, peer) => serve(socket, peer, ports) },
  )

function serve(socket: Socket, { address, openingMs }: SocketPeer, ports: MqttTcpPorts): void {
  const carrier = new TcpCarrier(socket, address, ports.runtime)
  const handle = ports.open(carrier, openingMs)
  socket.on('data', (chunk: Buffer) => handle.receive(chunk))
  socket.on('drain', () => handle.drained(socket.writableLength))
  socket.once('close', () => {
    carrier.forget()
    handle.closed()
  })
}

class TcpCarrier implements MqttCarrier {
  readonly address: string
  readonly #socket: Socket
  readonly #runtime: Pick<Runtime, 'after'>
  #isReading = true
  #cancelLinger: () => void = () => undefined

  constructor(socket: Socket, address: string, runtime: Pick<Runtime, 'after'>) {
    this.#socket = socket
    this.address = address
    this.#runtime = runtime
  }

  send(bytes: Buffer): number | 'closed' {
    if (this.#socket.destroyed) return 'closed'
    this.#socket.write(bytes)
    return this.#socket.writableLength
  }

  setReading(isOn: boolean): void {
    if (isOn === this.#isReading) return
    this.#isReading = isOn
    if (isOn) this.#socket.resume()
    else this.#socket.pause()
  }

  close(): void {
    this.#socket.resume() // An unread socket would never see the other side's end.
    this.#socket.end()
    this.#cancelLinger = this.#runtime.after(LINGER_MS, () => this.cut()) // mqtt-tcp/1
  }

  cut(): void {
    this.#socket.destroy()
  }

  forget(): void {
    this.#cancelLinger()
  }
}
