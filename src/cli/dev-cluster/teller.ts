// Prints one line for each fact: its time, its node and a sentence.

import type { Clock } from '#src/cli/delivery-line'
import type { Fact } from './fact.ts'

const WHO_WIDTH = 'mariadb'.length
/** Trouble that lasts is said again this often. */
const AGAIN_MS = 10_000
const REMEMBERED_MAX = 200

export interface TellerPorts {
  readonly print: (line: string) => void
  readonly nowMs: () => number
  readonly clock: Clock
}

/** Tells what happens in a cluster; repeats the same trouble only now and then. */
export class Teller {
  readonly #ports: TellerPorts
  /** When each trouble was last said. */
  readonly #saidMs = new Map<string, number>()

  constructor(ports: TellerPorts) {
    this.#ports = ports
  }

  tell(who: string, { kind, text }: Fact): void {
    const { print, nowMs, clock } = this.#ports
    const now = nowMs()
    if (kind === 'trouble' && this.#wasSaid(`${who} ${text}`, now)) return
    const milliseconds = String(Math.floor(now) % 1000).padStart(3, '0')
    print(`${clock(now)}.${milliseconds}  ${who.padEnd(WHO_WIDTH)}  ${text}`)
  }

  #wasSaid(what: string, now: number): boolean {
    const last = this.#saidMs.get(what)
    if (last !== undefined && now - last < AGAIN_MS) return true
    const oldest = this.#saidMs.keys().next()
    const isFull = this.#saidMs.size >= REMEMBERED_MAX && !this.#saidMs.has(what)
    if (isFull && oldest.done !== true) this.#saidMs.delete(oldest.value)
    this.#saidMs.set(what, now)
    return false
  }
}
