// The lanes whose turns fail. Each is taken apart from the others until its turns are as large as
// before, so that its trouble holds no other lane.
//
// Invariants:
//   lane-troubles/1. Lanes take turns, whether their turns were committed or failed: the lanes that
//     go on come together, each other one alone. Within a lane the order stays.
//   lane-troubles/2. A lane that pauses between its attempts keeps no other waiting.
//   lane-troubles/3. A tick that fails alone has half as many of the rows that are due in its next
//     turn. It has all again once two in a row were committed: the row at fault is then behind.

import { DUE_MAX } from '#domain/rules/stored'
import { retryDelayMs } from './backoff.ts'
import { Isolation } from './isolation.ts'
import type { OwnedLane } from './lanes.ts'
import { isTick } from './turn-item.ts'
import type { Item, Turn } from './turn-item.ts'

export interface LaneTroublesPorts {
  /** Resolves after a delay in milliseconds. */
  readonly wait: (delayMs: number) => Promise<void>
  /** Called when a lane that paused may be taken again. */
  readonly wakeUp: () => void
}

/** The state that a lane's failed turns leave behind. */
export interface LaneTrouble {
  readonly isolation: Isolation
  /** Failed turns in a row. */
  failures: number
  /** Submissions in the lane's next turn at most. */
  turnMax: number
  /** Rows that its next tick works off at most. */
  dueMax: number
  /** Ticks in a row that were committed with fewer rows than are due. */
  calm: number
  isPaused: boolean
}

/** Lanes whose submissions may be in one turn, and how many submissions that takes at most. */
export interface Share {
  readonly lanes: readonly OwnedLane[]
  readonly max: number
}

/** The troubles of the lanes, and how the lanes share turns meanwhile. */
export class LaneTroubles {
  readonly #ports: LaneTroublesPorts
  readonly #turnMax: number
  readonly #troubles = new Map<number, LaneTrouble>()
  #shared = 0

  /** `turnMax`: submissions in one turn at most. */
  constructor(turnMax: number, ports: LaneTroublesPorts) {
    this.#ports = ports
    this.#turnMax = turnMax
  }

  /** True while a lane is taken apart from the others. */
  get isAny(): boolean {
    for (const lane of this.#troubles.keys()) if (this.#isApart(lane)) return true
    return false
  }

  /** True while a lane waits for its next attempt. */
  get isPausing(): boolean {
    for (const { isPaused } of this.#troubles.values()) if (isPaused) return true
    return false
  }

  /** True when the turn before failed in one of the lanes of these items. */
  hasFailed(items: readonly Item[]): boolean {
    if (this.#troubles.size === 0) return false
    return items.some(({ lane }) => (this.#troubles.get(lane)?.failures ?? 0) > 0)
  }

  /**
   * Returns the lanes by the turns that they may share, the next turn first. Each call begins with
   * other lanes. (lane-troubles/1)
   */
  shares(owned: ReadonlyMap<number, OwnedLane>): readonly Share[] {
    for (const lane of this.#troubles.keys()) if (!owned.has(lane)) this.#troubles.delete(lane)
    const together: OwnedLane[] = []
    const apart: Share[] = []
    for (const lane of owned.values()) {
      const trouble = this.#troubles.get(lane.lane)
      if (!this.#isApart(lane.lane)) together.push(lane)
      else if (trouble?.isPaused === false) apart.push({ lanes: [lane], max: trouble.turnMax })
    }
    const count = this.#shared
    this.#shared += 1
    const first = Math.floor(count / (apart.length + 1))
    const shares = [{ lanes: rotated(together, first), max: this.#turnMax }, ...apart]
    return rotated(shares, count)
  }

  /** Returns the trouble of a lane, whose turn has failed. */
  of(lane: number): LaneTrouble {
    const found = this.#troubles.get(lane)
    if (found !== undefined) return found
    const isolation = new Isolation()
    const sizes = { turnMax: this.#turnMax, dueMax: DUE_MAX }
    const made = { isolation, failures: 0, ...sizes, calm: 0, isPaused: false }
    this.#troubles.set(lane, made)
    return made
  }

  /**
   * Says that a turn of these items failed. Its lanes are taken apart; from the second failure on,
   * the next turn of a lane has half as many items. (lane-troubles/1)
   */
  failed(items: readonly Item[]): void {
    const lanes = new Set(items.map(({ lane }) => lane))
    for (const lane of lanes) {
      const trouble = this.of(lane)
      trouble.failures += 1
      if (items.length === 1 && items.some(isTick)) this.#narrow(trouble)
      if (lanes.size > 1 || trouble.failures < 2) continue
      trouble.turnMax = Math.max(1, Math.floor(items.length / 2))
      this.#pause(trouble)
    }
  }

  /** The rows that the tick of a turn works off at most; empty for all. (lane-troubles/3) */
  tickOf(items: readonly Item[]): Pick<Turn, 'tick'> {
    if (this.#troubles.size === 0) return {}
    const tick = items.find(isTick)
    const dueMax = tick && this.#troubles.get(tick.lane)?.dueMax
    return dueMax === undefined || dueMax === DUE_MAX ? {} : { tick: { dueMax } }
  }

  /** Says that the tick of a lane was committed; `hasPutOff`: with the row at fault put off. */
  ticked(lane: number, hasPutOff: boolean): void {
    const trouble = this.#troubles.get(lane)
    if (trouble === undefined) return
    trouble.calm += 1
    if (hasPutOff || trouble.calm > 1) trouble.dueMax = DUE_MAX
  }

  #narrow(trouble: LaneTrouble): void {
    trouble.dueMax = Math.max(1, Math.floor(trouble.dueMax / 2))
    trouble.calm = 0
  }

  /** Says that a turn of these lanes was committed, with what each of its channels decided. */
  committed(lanes: Iterable<number>, channels: Parameters<Isolation['committed']>[0]): void {
    if (this.#troubles.size === 0) return
    for (const lane of lanes) {
      const trouble = this.#troubles.get(lane)
      if (trouble === undefined) continue
      trouble.failures = 0
      trouble.turnMax = Math.min(this.#turnMax, trouble.turnMax * 2)
      trouble.isolation.committed(channels)
    }
  }

  /** lane-troubles/2 */
  #pause(trouble: LaneTrouble): void {
    const delayMs = retryDelayMs(trouble.failures - 2)
    if (delayMs === 0) return
    trouble.isPaused = true
    void this.#ports.wait(delayMs).then(() => {
      trouble.isPaused = false
      this.#ports.wakeUp()
    })
  }

  #isApart(lane: number): boolean {
    const trouble = this.#troubles.get(lane)
    return trouble !== undefined && (trouble.failures > 0 || trouble.turnMax < this.#turnMax)
  }
}

function rotated<One>(list: readonly One[], count: number): readonly One[] {
  if (list.length < 2) return list
  const first = count % list.length
  return [...list.slice(first), ...list.slice(0, first)]
}
