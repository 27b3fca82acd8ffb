// A caller that speaks in lines over TCP.

import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'

import type { ExecutionContext } from 'ava'

import { until } from './until.ts'

export class Lines {
  readonly ended: Promise<unknown>
  readonly #socket: Socket
  readonly #heard: string[] = []

  /** Connects; the connection is gone with the test. */
  static async to(t: ExecutionContext, port: number): Promise<Lines> {
    const socket = connect(port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    return new Lines(socket)
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    this.ended = once(socket, 'close')
    createInterface({ input: socket }).on('line', (line) => this.#heard.push(line))
  }

  /** Sends a line and returns the next one that comes. */
  ask(line: string): Promise<string> {
    this.#socket.write(`${line}\n`)
    return this.next()
  }

  async next(): Promise<string> {
    await until('a line comes', () => this.#heard.length > 0)
    return this.#heard.shift() ?? ''
  }

  leave(): void {
    this.#socket.destroy()
  }
}
