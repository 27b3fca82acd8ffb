// One push service: its connections, the token of the gateway for it, and its own circuit.
//
// Invariants:
//   webpush-service/1. At most AT_ONCE_MAX requests are in flight, over as many connections, and
//     fewer until the service has answered: one that takes requests and answers none holds few.
//   webpush-service/2. Every request ends, after ANSWER_MS_MAX at the latest.
//   webpush-service/3. A service that failed FAILURES_MAX times in a row rests: its pushes are put
//     off at once, and one tries it at the end of the rest.
//   webpush-service/4. A burst of failures counts once.
//   webpush-service/5. While a request has no answer for SLOW_MS, its service gets no further ones
//     than its limit, which grows by quick answers alone, and what has no room is put off: pushes
//     that wait take the room of other services.
//   webpush-service/6. Services whose last answer was late or none, or that gave none yet, share
//     places: however many of them hold requests, the others have room.

import type { Dispatcher } from 'undici'

import { doubledMs } from '#domain/bounds/backoff'
import { afterMsFrom } from '#src/providers/retry-after'
import { Exchange } from './exchange.ts'
import type { Reply, ServiceRequest } from './exchange.ts'

export const AT_ONCE_MAX = 128
const AT_ONCE_FIRST = 8
const ANSWER_MS_MAX = 15_000
const SLOW_MS = 2_000
const FAILURES_MAX = 3
const REST = { firstMs: 1_000, maxMs: 300_000 }

interface ServicePorts {
  readonly connections: Pick<Dispatcher, 'dispatch' | 'destroy'>
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  /** Returns a new token of the gateway for the service. */
  readonly authorize: () => string
  /** Milliseconds for which a token is used. */
  readonly tokenUseMs: number
  /** Requests of all services that have not just answered in time. (webpush-service/6) */
  readonly untried: { inFlight: number; readonly max: number }
}

export class Service {
  readonly #ports: ServicePorts
  readonly #inFlight = new Set<Exchange>()
  /** Requests without a connection. Dispatch bounds their number: it limits pushes in flight. */
  readonly #waiting: { readonly request: ServiceRequest; readonly reply: (reply: Reply) => void }[]
  #token = ''
  #tokenUntilMs = -Infinity
  #limit = AT_ONCE_FIRST
  #isPrompt = false
  #failures = 0
  #failedMs = -Infinity
  #restsUntilMs = -Infinity
  #usedMs: number

  constructor(ports: ServicePorts) {
    this.#ports = ports
    this.#usedMs = ports.monotonicMs()
    this.#waiting = []
  }

  /** The value of the header Authorization for its requests. */
  get authorization(): string {
    const nowMs = this.#ports.monotonicMs()
    if (nowMs >= this.#tokenUntilMs) {
      this.#token = this.#ports.authorize()
      this.#tokenUntilMs = nowMs + this.#ports.tokenUseMs
    }
    return this.#token
  }

  /** The time of its last request in monotonic milliseconds; undefined while one is under way. */
  get idleSinceMs(): number | undefined {
    return this.#inFlight.size + this.#waiting.length === 0 ? this.#usedMs : undefined
  }

  get isResting(): boolean {
    return this.#failures >= FAILURES_MAX
  }

  /** Never rejects. */
  send(request: ServiceRequest): Promise<Reply> {
    const nowMs = this.#ports.monotonicMs()
    this.#usedMs = nowMs
    const restMs = this.#restsUntilMs - nowMs
    // webpush-service/3
    if (restMs > 0 || (this.isResting && this.#inFlight.size > 0)) {
      return Promise.resolve(resting(Math.max(restMs, REST.firstMs)))
    }
    if (this.#isStalled(nowMs)) return Promise.resolve(SLOW)
    return new Promise((reply) => {
      this.#waiting.push({ request, reply })
      this.#begin()
    })
  }

  /** Ends requests that wait for too long. */
  check(): void {
    const nowMs = this.#ports.monotonicMs()
    const beganBeforeMs = nowMs - ANSWER_MS_MAX
    for (const exchange of this.#inFlight) {
      if (exchange.beganMs > beganBeforeMs) break // They began in this order.
      exchange.giveUp() // webpush-service/2
    }
    if (this.#isStalled(nowMs)) this.#putOff(SLOW)
  }

  /** True without room while an answer is late. (webpush-service/5) */
  #isStalled(nowMs: number): boolean {
    const [oldest] = this.#inFlight
    return this.#inFlight.size >= this.#limit && nowMs - (oldest?.beganMs ?? nowMs) >= SLOW_MS
  }

  #putOff(ending: Reply): void {
    for (const { reply } of this.#waiting.splice(0)) reply(ending)
  }

  close(): Promise<void> {
    return this.#ports.connections.destroy()
  }

  #begin(): void {
    const { untried } = this.#ports
    // webpush-service/1
    while (this.#waiting.length > 0 && this.#inFlight.size < this.#limit) {
      if (!this.#isPrompt && untried.inFlight >= untried.max) return this.#putOff(SLOW)
      const next = this.#waiting.shift()
      if (next !== undefined) this.#exchange(next.request, next.reply)
    }
  }

  #exchange(request: ServiceRequest, reply: (reply: Reply) => void): void {
    const { connections, monotonicMs, untried } = this.#ports
    const places = this.#isPrompt ? 0 : 1
    const exchange = new Exchange(monotonicMs(), (ending) => {
      this.#inFlight.delete(exchange)
      untried.inFlight -= places
      this.#learn(ending, exchange.beganMs)
      reply(ending)
      this.#begin()
    })
    this.#inFlight.add(exchange)
    untried.inFlight += places // webpush-service/6
    const { path, body } = request
    connections.dispatch({ method: 'POST', path, headers: { ...request.headers }, body }, exchange)
  }

  #learn(ending: Reply, beganMs: number): void {
    const { nowMs, monotonicMs } = this.#ports
    const status = ending.kind === 'answered' ? ending.answer.status : 0
    if (ending.kind === 'forbidden' || (status > 0 && status < 500)) {
      this.#failures = 0
      const isSlow = monotonicMs() - beganMs >= SLOW_MS // webpush-service/5
      this.#limit = isSlow ? Math.min(AT_ONCE_FIRST, this.#limit) : this.#limit + 1
      this.#limit = Math.min(AT_ONCE_MAX, this.#limit)
      this.#isPrompt = !isSlow
      return
    }
    this.#isPrompt = false
    if (beganMs < this.#failedMs) return // webpush-service/4
    this.#failedMs = monotonicMs()
    this.#failures += 1
    this.#limit = 1
    if (!this.isResting) return
    const asked = ending.kind === 'answered' ? ending.answer.retryAfter : undefined
    const backOffMs = doubledMs(REST, this.#failures - FAILURES_MAX)
    const restMs = Math.max(backOffMs, afterMsFrom(asked, nowMs()) ?? 0)
    this.#restsUntilMs = this.#failedMs + restMs
    this.#putOff(resting(restMs))
  }
}

const SLOW: Reply = { kind: 'unanswered', reason: 'slow', afterMs: REST.firstMs }
const resting = (afterMs: number): Reply => ({ kind: 'unanswered', reason: 'resting', afterMs })
