// Calls the product beside the load: makes channels and devices, submits single updates and reads
// their status.

import { randomBytes } from 'node:crypto'

import type { Server } from './server.ts'

/** The password of rows that need one; the others send by keys. */
export const PASSWORD = 'bench-password'

export class Caller {
  readonly #origin: string
  readonly #token: string

  constructor({ port }: Pick<Server, 'port'>, token: string) {
    this.#origin = `http://127.0.0.1:${port}`
    this.#token = token
  }

  /** The `data` of a success; anything else throws. */
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<object> {
    return this.#ask(path, { method: 'POST', body: JSON.stringify(body) })
  }

  /** The `data` of a success; anything else throws. */
  get(path: string): Promise<object> {
    return this.#ask(path, { method: 'GET' })
  }

  /**
   * Submits one update of a Thing beside those of the workload, by the key of its channel. Returns
   * its op_id; throws when it was not accepted.
   */
  async submit(key: string): Promise<string> {
    const attrs = { nonce: randomBytes(8).toString('hex') }
    const update = { password: key, thing_id: 'probe', observed_at: Date.now(), attrs }
    return textOf(await this.post('/thing/update', update), 'op_id')
  }

  async #ask(path: string, request: { method: string; body?: string }): Promise<object> {
    const response = await fetch(this.#origin + path, {
      ...request,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
    })
    const answer: unknown = await response.json()
    const data: unknown =
      typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'data') : undefined
    if (response.status === 200 && typeof data === 'object' && data !== null) return data
    throw new Error(`${path} answered ${response.status} ${JSON.stringify(answer)}`)
  }
}

export function textOf(data: object, name: string): string {
  const value: unknown = Reflect.get(data, name)
  if (typeof value === 'string') return value
  throw new Error(`${name} is missing in ${JSON.stringify(data)}`)
}
