// The plainest load: one caller, who waits for each answer.

import { Connection } from './connection.ts'

export interface Address {
  readonly port: number
  readonly token: string
}

/** Sends one request after the other over one connection. */
export class Sender {
  readonly #address: Address
  #connection: Connection | undefined
  #answer: PromiseWithResolvers<number> | undefined

  constructor(address: Address) {
    this.#address = address
  }

  /** Opens a new connection: the server closes one that was silent for long. */
  async connect(): Promise<Connection> {
    this.close()
    const connection = new Connection(this.#address.port, {
      answered: (_, status) => this.#answer?.resolve(status),
      ended: () => {
        this.#connection = undefined
        this.#answer?.reject(new Error('the connection ended'))
      },
    })
    this.#connection = connection
    await connection.connected()
    return connection
  }

  /** Sends a whole request; resolves once it is answered with 200. */
  async send(request: Buffer): Promise<void> {
    const connection = this.#connection ?? (await this.connect())
    this.#answer = Promise.withResolvers()
    connection.send(request)
    const status = await this.#answer.promise
    if (status !== 200) throw new Error(`the answer was ${status}`)
  }

  post(path: string, type: string, body: string): Promise<void> {
    const head = [
      `POST ${path} HTTP/1.1`,
      'host: 127.0.0.1',
      `authorization: Bearer ${this.#address.token}`,
      `content-type: ${type}`,
      `content-length: ${Buffer.byteLength(body)}`,
    ]
    return this.send(Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`))
  }

  close(): void {
    this.#connection?.close()
  }
}
