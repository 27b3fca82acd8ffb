// The HTTP/2 connections to a provider: few, that stay, with many streams each.
//
// Invariants:
//   connections/1. At most CONNECTIONS are live. Each opens when the others have no room, one after
//                  the other.
//   connections/2. Every request ends, after ANSWER_MS_MAX at the latest.
//   connections/3. A request whose stream the server refused was not processed: it is sent again,
//                  at most as often as there may be connections, each of which may be about to end.

import type { Runtime } from '#domain/runtime'
import { Connection } from './connection.ts'
import { Exchange, Unanswered } from './exchange.ts'
import type { Answer, Request } from './exchange.ts'

const CONNECTIONS = 4
const CHECK_EVERY_MS = 1_000
const ANSWER_MS_MAX = 15_000

export class Connections {
  readonly #origin: string
  readonly #monotonicMs: () => number
  readonly #connections = new Set<Connection>()
  /** Exchanges without a stream; dispatch bounds the pushes under way. */
  readonly #waiting: Exchange[] = []
  readonly #stopChecks: () => void
  #isClosed = false

  constructor(origin: string, { monotonicMs, every }: Pick<Runtime, 'monotonicMs' | 'every'>) {
    this.#origin = origin
    this.#monotonicMs = monotonicMs
    this.#stopChecks = every(CHECK_EVERY_MS, () => this.#check())
  }

  /** Sends a request. Rejects with `Unanswered`. */
  request(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(new Exchange(request, this.#monotonicMs(), { resolve, reject }))
      this.#send()
    })
  }

  /** Ends the connections once their requests have ended. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#send()
    return Promise.resolve()
  }

  /** Ends everything. */
  destroy(): Promise<void> {
    this.#isClosed = true
    this.#stopChecks()
    for (const connection of this.#connections) connection.destroy()
    this.#refuse(this.#waiting.splice(0), undefined)
    return Promise.resolve()
  }

  #send(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#roomiest()
      if (connection === undefined) return this.#open()
      const exchange = this.#waiting.shift()
      if (exchange !== undefined) connection.send(exchange)
    }
    if (this.#isClosed) this.#finish()
    return undefined
  }

  #finish(): void {
    if (this.#connections.size === 0) this.#stopChecks()
    for (const connection of this.#connections) connection.close()
  }

  get #live(): readonly Connection[] {
    return [...this.#connections].filter(({ isLive }) => isLive)
  }

  #roomiest(): Connection | undefined {
    let best: Connection | undefined
    for (const connection of this.#connections) {
      if (connection.room > (best?.room ?? 0)) best = connection
    }
    return best
  }

  /** Opens one more connection, unless enough are live or one is about to be. (connections/1) */
  #open(): void {
    const live = this.#live
    if (live.length >= CONNECTIONS || live.some(({ isReady }) => !isReady)) return
    const connection = new Connection(this.#origin, this.#monotonicMs(), {
      changed: () => this.#send(),
      refused: (exchange) => this.#refused(exchange),
      ended: (wasReady, error) => {
        this.#connections.delete(connection)
        // A server that is not there is asked again by later requests.
        if (wasReady) this.#send()
        else if (this.#live.length === 0) this.#refuse(this.#waiting.splice(0), error)
      },
    })
    this.#connections.add(connection)
  }

  /** connections/3 */
  #refused(exchange: Exchange): void {
    exchange.refusals += 1
    if (exchange.refusals > CONNECTIONS) exchange.end()
    else this.#waiting.unshift(exchange)
  }

  #refuse(exchanges: readonly Exchange[], cause: unknown): void {
    for (const exchange of exchanges) {
      exchange.failed(cause)
      exchange.end()
    }
  }

  /** connections/2 */
  #check(): void {
    const nowMs = this.#monotonicMs()
    const beganBeforeMs = nowMs - ANSWER_MS_MAX
    for (const connection of this.#connections) connection.check(nowMs, beganBeforeMs)
    const late = this.#waiting.findIndex(({ beganMs }) => beganMs >= beganBeforeMs)
    this.#refuse(this.#waiting.splice(0, late < 0 ? this.#waiting.length : late), Unanswered.late())
  }
}
