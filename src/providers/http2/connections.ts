// Spreads requests over a few long-lived HTTP/2 connections to a provider, with many streams each.
//
// Invariants:
//   push-connections/1. At most CONNECTIONS_MAX are live. They open one at a time, and only while
//     the others have no room.
//   push-connections/2. Every request ends, after ANSWER_MS_MAX at the latest.
//   push-connections/3. A server that refused a stream did not process its request. So the request
//     goes out again, at most CONNECTIONS_MAX times: each connection may be about to end.

import type { Runtime } from '#domain/runtime'
import { Connection } from './connection.ts'
import { Exchange, Unanswered } from './exchange.ts'
import type { Answer, Request } from './exchange.ts'

const CONNECTIONS_MAX = 4
const CHECK_EVERY_MS = 1_000
const ANSWER_MS_MAX = 15_000

export class Connections {
  readonly #origin: string
  readonly #monotonicMs: () => number
  readonly #connections = new Set<Connection>()
  /** Exchanges without a stream. Dispatch bounds their number: it limits the pushes in flight. */
  readonly #waiting: Exchange[] = []
  readonly #stopChecks: () => void
  #isClosed = false

  constructor(origin: string, { monotonicMs, every }: Pick<Runtime, 'monotonicMs' | 'every'>) {
    this.#origin = origin
    this.#monotonicMs = monotonicMs
    this.#stopChecks = every(CHECK_EVERY_MS, () => this.#check())
  }

  /** Sends a request. Rejects with `Unanswered` when no answer comes. */
  request(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(new Exchange(request, this.#monotonicMs(), { resolve, reject }))
      this.#send()
    })
  }

  /** Ends each connection once its requests have ended. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#send()
    return Promise.resolve()
  }

  /** Ends all connections and requests at once. */
  destroy(): Promise<void> {
    this.#isClosed = true
    this.#stopChecks()
    for (const connection of this.#connections) connection.destroy()
    this.#fail(this.#waiting.splice(0), undefined)
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

  /** Opens one more connection, unless enough are live or one is opening. (push-connections/1) */
  #open(): void {
    const live = this.#live
    if (live.length >= CONNECTIONS_MAX || live.some(({ isReady }) => !isReady)) return
    const connection = new Connection(this.#origin, this.#monotonicMs(), {
      onRoom: () => this.#send(),
      onRefused: (exchange) => this.#onRefused(exchange),
      onEnd: (wasReady, error) => {
        this.#connections.delete(connection)
        // When no server answered, only a later request opens another connection.
        if (wasReady) this.#send()
        else if (this.#live.length === 0) this.#fail(this.#waiting.splice(0), error)
      },
    })
    this.#connections.add(connection)
  }

  /** push-connections/3 */
  #onRefused(exchange: Exchange): void {
    exchange.refusals += 1
    if (exchange.refusals > CONNECTIONS_MAX) exchange.end()
    else this.#waiting.unshift(exchange)
  }

  #fail(exchanges: readonly Exchange[], cause: unknown): void {
    for (const exchange of exchanges) {
      exchange.fail(cause)
      exchange.end()
    }
  }

  /** push-connections/2 */
  #check(): void {
    const nowMs = this.#monotonicMs()
    const beganBeforeMs = nowMs - ANSWER_MS_MAX
    for (const connection of this.#connections) connection.check(nowMs, beganBeforeMs)
    const inTime = this.#waiting.findIndex(({ beganMs }) => beganMs >= beganBeforeMs)
    const lateCount = inTime < 0 ? this.#waiting.length : inTime
    this.#fail(this.#waiting.splice(0, lateCount), Unanswered.late())
  }
}
