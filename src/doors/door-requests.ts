// Answers the requests of a door: the checks that acceptance wants before it, and the wait for what
// is under way when the process stops. HTTP has both in src/ingress/pipeline.ts, on its hot path.
//
// Invariants:
//   door-requests/1. A request that comes while the process starts or drains, or beyond the bound
//                    of requests under way, carries its refusal along: acceptance gives it last.
//   door-requests/2. Every request is answered once, also when its handler rejects; the reason of a
//                    rejection goes to the operator, never to the caller.
//   door-requests/3. `drain` resolves when every request that came before it is answered.

import { isFault } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import type { Answer, NowMs } from '#domain/ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { Caller } from '#src/acceptance/caller'
import type { Attempt } from '#src/acceptance/attempt'
import type { Origin } from '#src/acceptance/audit'
import type { CallerCheck, Guard } from '#src/acceptance/caller-check'
import { BUSY, refusalsBy } from '#src/refusals/rejection'
import type { RefusalOf } from '#src/refusals/rejection'

export interface DoorRequestsPorts {
  readonly callerCheck: Pick<CallerCheck, 'admit'>
  /** False while the process starts. */
  readonly isOpen: () => boolean
  readonly nowMs: NowMs
  readonly meter: Pick<Meter, 'counter'>
  readonly logger: Pick<Logger, 'error'>
}

/** One request, before it is read. */
export interface Arrival {
  readonly guard: Guard
  readonly peer: Origin
  /** As in an Authorization header; '' without one. A secret. */
  readonly authorization: string
}

const UNDER_WAY_MAX = 20_000

export class DoorRequests {
  readonly #door: string
  readonly #ports: DoorRequestsPorts
  readonly #refusalOf: RefusalOf
  readonly #refused = new Map<FaultCode, () => void>()
  #underWay = 0
  #isDraining = false
  readonly #empty = Promise.withResolvers<void>()

  constructor(door: string, ports: DoorRequestsPorts) {
    this.#door = door
    this.#ports = ports
    this.#refusalOf = refusalsBy(ports.nowMs)
  }

  /**
   * Checks the caller and lets `handle` answer. Returns the answer, or the refusal; counts it. Not
   * a promise when `handle` returns none; never throws or rejects.
   */
  answer<Value>(
    { guard, peer, authorization }: Arrival,
    handle: (caller: Caller) => Answer<Value> | Promise<Answer<Value>>,
  ): Answer<Value> | Promise<Answer<Value>> {
    const { callerCheck, isOpen, nowMs } = this.#ports
    const isClosed = this.#isDraining || !isOpen() || this.#underWay >= UNDER_WAY_MAX
    const refusal = isClosed ? BUSY : undefined // door-requests/1
    this.#underWay += 1
    try {
      const admitted = callerCheck.admit(guard, peer, authorization)
      if (isFault(admitted)) return this.#ended<Value>(admitted)
      const { attempt } = admitted
      const outcome = handle({ receivedAtMs: nowMs(), refusal, ...admitted })
      if (!(outcome instanceof Promise)) return this.#ended(outcome, attempt)
      return outcome.then(
        (answer) => this.#ended(answer, attempt),
        (error: unknown) => this.#failed<Value>(error),
      )
    } catch (error) {
      return this.#failed(error)
    }
  }

  #ended<Value>(outcome: Answer<Value>, attempt?: Attempt): Answer<Value> {
    this.#underWay -= 1
    if (this.#isDraining && this.#underWay === 0) this.#empty.resolve()
    const uncounted = attempt?.end() // pipeline/4
    return isFault(outcome) ? this.#counted(uncounted ?? outcome) : outcome
  }

  /** door-requests/2 */
  #failed<Value>(error: unknown): Answer<Value> {
    return this.#ended(this.#refusalOf(error, (defect) => this.#log(defect)))
  }

  /** Refuses what is new; resolves when what is under way is answered. (door-requests/3) */
  drain(): Promise<void> {
    this.#isDraining = true
    if (this.#underWay > 0) return this.#empty.promise
    return Promise.resolve()
  }

  #counted(refusal: Fault): Fault {
    const { code } = refusal
    const count = this.#refused.get(code) ?? this.#ports.meter.counter('refused_total', { code })
    this.#refused.set(code, count)
    count()
    return refusal
  }

  #log(defect: object): void {
    this.#ports.logger.error('a request failed', { door: this.#door, ...defect })
  }
}
