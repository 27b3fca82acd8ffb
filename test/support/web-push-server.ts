// Implements a stand-in for a push service of the web: it takes pushes for the subscriptions that
// it has made. (RFC 8030)

import { createECDH, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, RequestListener, Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

import type { Certificate } from '#src/dev/servers/certificate'

export interface WebPush {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface WebPushAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A subscription, and the private key with which its owner decrypts pushes. */
export interface MadeSubscription {
  /** The JSON of the PushSubscription. */
  readonly json: string
  readonly privateKey: Buffer
  readonly authSecret: Buffer
}

export interface WebPushServerOptions {
  /** Without one it speaks http. */
  readonly certificate?: Certificate
  readonly host?: string
}

const SECRET_BYTES = 16

export class WebPushServer {
  /** Called with each push; `hang` leaves it without an answer. */
  answer: (push: WebPush) => WebPushAnswer | 'hang' = () => ({ status: 201 })
  /** Called with each push that the answer accepts. */
  taken: (push: WebPush) => void = () => undefined
  requests = 0
  readonly #server: Server
  readonly #scheme: string
  readonly #sockets = new Set<Socket>()

  private constructor({ certificate }: WebPushServerOptions) {
    const listener: RequestListener = (request, response) => {
      this.requests += 1
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { url: path = '', headers } = request
        const push = { path, headers, body: Buffer.concat(chunks) }
        const answer = this.answer(push)
        if (answer === 'hang') return
        if (answer.status === 201) this.taken(push)
        response.writeHead(answer.status, answer.headers).end(answer.body)
      })
    }
    this.#scheme = certificate === undefined ? 'http' : 'https'
    this.#server =
      certificate === undefined
        ? createServer(listener)
        : createTlsServer({ cert: certificate.certificate, key: certificate.key }, listener)
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(options: WebPushServerOptions = {}): Promise<WebPushServer> {
    const server = new WebPushServer(options)
    server.#server.listen(0, options.host ?? '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get connections(): number {
    return this.#sockets.size
  }

  origin(host = '127.0.0.1'): string {
    return `${this.#scheme}://${host}:${this.port}`
  }

  /** Makes a subscription; `endpoint` names another address than its own. */
  subscription(endpoint = `${this.origin()}/push/${randomBytes(8).toString('hex')}`) {
    return subscriptionAt(endpoint)
  }

  breakConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.breakConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** Makes a subscription at any address. */
export function subscriptionAt(endpoint: string): MadeSubscription {
  const pair = createECDH('prime256v1')
  const p256dh = pair.generateKeys('base64url')
  const authSecret = randomBytes(SECRET_BYTES)
  const keys = { p256dh, auth: authSecret.toString('base64url') }
  return {
    json: JSON.stringify({ endpoint, expirationTime: null, keys }),
    privateKey: pair.getPrivateKey(),
    authSecret,
  }
}
