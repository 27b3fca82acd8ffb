// Prints one line for each fact: its time, its node and a sentence.

import type { Clock } from '#src/cli/deliveries/delivery-line'
import type { Fact } from './fact.ts'

const WHO_WIDTH = 'mariadb'.length
/** Milliseconds after which the reporter repeats a problem that lasts. */
const AGAIN_MS = 10_000
const REMEMBERED_MAX = 200

export interface ReporterPorts {
  readonly print: (line: string) => void
  readonly nowMs: () => number
  readonly clock: Clock
}

/** Prints the facts of a cluster, and a lasting problem once every ten seconds. */
export class Reporter {
  readonly #ports: ReporterPorts
  /** The time at which it last printed each problem. */
  readonly #reportedMs = new Map<string, number>()

  constructor(ports: ReporterPorts) {
    this.#ports = ports
  }

  report(who: string, { kind, text }: Fact): void {
    const { print, nowMs, clock } = this.#ports
    const now = nowMs()
    if (kind === 'problem' && this.#wasReported(`${who} ${text}`, now)) return
    const milliseconds = String(Math.floor(now) % 1000).padStart(3, '0')
    print(`${clock(now)}.${milliseconds}  ${who.padEnd(WHO_WIDTH)}  ${text}`)
  }

  #wasReported(problem: string, now: number): boolean {
    const last = this.#reportedMs.get(problem)
    if (last !== undefined && now - last < AGAIN_MS) return true
    const oldest = this.#reportedMs.keys().next()
    const isFull = this.#reportedMs.size >= REMEMBERED_MAX && !this.#reportedMs.has(problem)
    if (isFull && oldest.done !== true) this.#reportedMs.delete(oldest.value)
    this.#reportedMs.set(problem, now)
    return false
  }
}
