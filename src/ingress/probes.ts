// Readiness of the gateway and its dependencies, which are asked seldom, however often clients ask.
// (decisions.md 14)
//
// Invariants:
//   probes/1. A dependency is asked at most once in ASK_EVERY_MS, and not again before it has
//             answered: all callers share the answer.

import { fault } from '#domain/fault'
import type { Probe, Readiness, Timers } from '#domain/ports'
import type { Answerer } from './answerer.ts'
import { failure, success } from './answerer.ts'

export interface ReadinessPorts {
  readonly probes: readonly Probe[]
  /** The safety of an accepted submission at this moment, in words. */
  readonly durability: () => string
  readonly timers: Timers
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number
}

const PROBE_TIMEOUT_MS = 2_000
const ASK_EVERY_MS = 1_000

/** The readiness of the gateway, and the data of the answer. */
interface GatewayReadiness {
  readonly isReady: boolean
  readonly data: object
}

/** The envelope with `data`, also in a 503, when the gateway is not ready. */
export const READINESS: Answerer<GatewayReadiness> = {
  isLocalised: true,
  success: ({ isReady, data }, request) =>
    isReady ? success(data) : failure(fault('server_busy'), request, data),
  failure: (refusal, request) => failure(refusal, request),
}

/**
 * One entry a dependency. A dependency whose probe fails or does not answer is not ready. A way in
 * that is draining or full is not ready either.
 */
export function readiness(ports: ReadinessPorts) {
  const { probes, durability } = ports
  const asked = probes.map((probe, at) => new Dependency(probe, `dependency ${at + 1}`, ports))
  return async (isRefusing: boolean): Promise<GatewayReadiness> => {
    const states = await Promise.all(asked.map((dependency) => dependency.state()))
    const isFit = states.every(({ ready, isOptional }) => ready || isOptional === true)
    const isReady = !isRefusing && isFit
    const status = isReady ? 'ok' : 'unready'
    const dependencies = states.map(({ name, ready, detail }) => ({ name, ready, detail }))
    return { isReady, data: { status, durability: durability(), dependencies } }
  }
}

type DependencyPorts = Pick<ReadinessPorts, 'timers' | 'monotonicMs'>

class Dependency {
  readonly #probe: Probe
  readonly #ports: DependencyPorts
  /** The dependency's name, from its last answer. */
  #name: string
  /** The question under way. */
  #question: Promise<Readiness> | undefined
  #shared: Promise<Readiness> | undefined
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(probe: Probe, name: string, ports: DependencyPorts) {
    this.#probe = probe
    this.#name = name
    this.#ports = ports
  }

  /** The last known state; asks again when it is too old. (probes/1) */
  state(): Promise<Readiness> {
    const now = this.#ports.monotonicMs()
    if (this.#shared === undefined || now - this.#askedAt >= ASK_EVERY_MS) {
      this.#askedAt = now
      this.#shared = this.#ask()
    }
    return this.#shared
  }

  async #ask(): Promise<Readiness> {
    const silence = Promise.withResolvers<undefined>()
    const cancel = this.#ports.timers.after(PROBE_TIMEOUT_MS, () => silence.resolve(undefined))
    try {
      const answer = await Promise.race([(this.#question ??= this.#begin()), silence.promise])
      if (answer === undefined) return this.#unready('no answer in time')
      this.#name = answer.name
      return answer
    } catch {
      // The dependency itself logs the reason, which could carry a secret here.
      return this.#unready('the check failed')
    } finally {
      cancel()
    }
  }

  #begin(): Promise<Readiness> {
    return this.#probe.readiness().finally(() => {
      this.#question = undefined
    })
  }

  #unready(detail: string): Readiness {
    return { name: this.#name, ready: false, detail }
  }
}
