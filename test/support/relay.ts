// A TCP relay in front of a server of this machine, for failures of the network: frozen, it
// silently lets nothing pass; watched, it can lose an answer.

import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'

import { reservePort } from '#src/dev/servers/port'
import type { Owner } from '#test/support/gateway'

/**
 * The fate of bytes on their way to the server. `cut-after`: they pass, and the connection breaks
 * before an answer does. `hold`: the relay freezes before they pass; thawed, it asks again.
 */
export type Verdict = 'pass' | 'cut-after' | 'hold'

const PASS = (): Verdict => 'pass'
/** Milliseconds in which the server surely has the last bytes. */
const CUT_AFTER_MS = 50

export class Relay {
  readonly port: number
  readonly #sockets = new Set<Socket>()
  #judge: (bytes: Buffer) => Verdict = PASS
  #isFrozen = false

  private constructor(port: number) {
    this.port = port
  }

  /** A relay to a port of this machine; it ends with its owner. */
  static async open(t: Owner, target: number): Promise<Relay> {
    const { port, release } = await reservePort()
    const relay = new Relay(port)
    const server: Server = createServer((near) => {
      relay.#join(near, connect(target, '127.0.0.1'))
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(async () => {
      for (const socket of relay.#sockets) socket.destroy()
      server.close()
      await release()
    })
    return relay
  }

  /** Calls the function for all bytes to the server from now on. */
  watch(judge: (bytes: Buffer) => Verdict): void {
    this.#judge = judge
  }

  /** Freezes before the first bytes that fulfil a condition; resolves then. */
  async holdAt(isIt: (bytes: Buffer) => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.watch((bytes) => {
      if (!isIt(bytes)) return 'pass'
      this.watch(PASS)
      resolve()
      return 'hold'
    })
    await promise
  }

  /** Stops all bytes, in both directions, on old and new connections. */
  freeze(): void {
    this.#isFrozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  /** Breaks every connection; new ones are made. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Passes the bytes kept, unless their connection was given up meanwhile. */
  thaw(): void {
    this.#isFrozen = false
    for (const socket of this.#sockets) socket.resume()
  }

  #join(near: Socket, far: Socket): void {
    near.on('data', (bytes) => {
      const verdict = this.#judge(bytes)
      if (verdict === 'hold') {
        this.freeze()
        near.unshift(bytes)
        return
      }
      far.write(bytes)
      if (verdict === 'pass') return
      far.pause()
      setTimeout(() => near.destroy(), CUT_AFTER_MS)
    })
    far.on('data', (bytes) => near.write(bytes))
    this.#keep(near, far)
    this.#keep(far, near)
  }

  /** A connection that is given up loses the bytes on their way. */
  #keep(socket: Socket, other: Socket): void {
    this.#sockets.add(socket)
    socket.setNoDelay()
    if (this.#isFrozen) socket.pause()
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      other.destroy()
    })
  }
}
