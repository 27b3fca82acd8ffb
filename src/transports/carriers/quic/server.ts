// The library's server, behind a guard that sees each datagram first. The library offers no hook
// before it takes a connection, so this overrides what it declares `protected`: the handler of its
// socket, and how retry tokens are made and checked.

import type { RemoteInfo } from 'node:dgram'

import Logger, { LogLevel } from '@matrixai/logger'
import { QUICConnectionId, QUICServer, QUICSocket } from '@matrixai/quic'

import { ALPN } from '#src/transports/carriers/framing'
import { HELLO_WITHIN_MS } from '#src/transports/signals'
import type { RetryTokens } from './retry-tokens.ts'

/**
 * Decides about a datagram. `pass` hands it to the library; for the first one of a connection it
 * resolves when the connection is open, or has failed and left nothing behind.
 */
export type Guard = (
  datagram: Buffer,
  remote: RemoteInfo,
  pass: () => Promise<void>,
) => Promise<void>

type ServerOptions = ConstructorParameters<typeof QUICServer>[0]
type QuicConfig = ServerOptions['config']

const SILENT = (): Logger => new Logger(ALPN, LogLevel.SILENT, [])

export class GuardedSocket extends QUICSocket {
  constructor(guard: Guard) {
    super({ logger: SILENT() })
    const handle = this.handleSocketMessage
    this.handleSocketMessage = (datagram, remote) =>
      guard(datagram, remote, () => handle(datagram, remote))
  }

  /** Sends a datagram; a peer that cannot be reached is no error. */
  answer(datagram: Buffer, { port, address }: RemoteInfo): void {
    this.socket.send(datagram, port, address, () => undefined)
  }
}

export class GuardedServer extends QUICServer {
  readonly #tokens: RetryTokens

  constructor(socket: QUICSocket, tokens: RetryTokens, config: QuicConfig) {
    const sign = async (_: ArrayBuffer, data: ArrayBuffer): Promise<ArrayBuffer> =>
      new Uint8Array(tokens.idSource(new Uint8Array(data))).buffer
    super({
      socket,
      // It signs connection IDs only: the tokens have a key of their own.
      crypto: { key: new ArrayBuffer(0), ops: { sign, verify: async () => false } },
      config,
      minIdleTimeout: HELLO_WITHIN_MS,
      logger: SILENT(),
    })
    this.#tokens = tokens
  }

  protected override async mintToken(id: QUICConnectionId, address: string): Promise<Buffer> {
    return this.#tokens.mint(id, address)
  }

  protected override async validateToken(token: Buffer, address: string) {
    const id = this.#tokens.read(token, address)
    return id && new QUICConnectionId(id)
  }
}
