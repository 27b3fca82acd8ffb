// The rows of lanes and their holders in memory, by a clock of the test's: several nodes share them.

import type { LeaseHolder, LeaseRow, LeaseTable } from '#domain/ports'

export type LeaseCall = keyof LeaseTable

/** What becomes of a call; with a promise, it is answered when that is kept. */
export type LeaseFate = 'well' | 'refused' | 'silent' | Promise<void>

export class MemoryLeaseTable {
  /** Epochs and owners by lane. */
  readonly rows: { epoch: number; owner: string }[]
  /** The times of the last renewals by session. */
  readonly holders = new Map<string, number>()
  /** Every call, in order. */
  readonly calls: LeaseCall[] = []
  /** Lanes that a transaction has locked. */
  readonly locked = new Set<number>()
  readonly #nowMs: () => number

  constructor(lanes: number, nowMs: () => number) {
    this.rows = Array.from({ length: lanes }, () => ({ epoch: 0, owner: '' }))
    this.#nowMs = nowMs
  }

  /** The table as one process reaches it. */
  reachedBy(fateOf: (call: LeaseCall) => LeaseFate): LeaseTable {
    const call = async <Answer>(name: LeaseCall, work: () => Answer): Promise<Answer> => {
      this.calls.push(name)
      const fate = fateOf(name)
      if (fate === 'refused') throw new Error('the database is away')
      if (fate === 'silent') return new Promise(() => {})
      const answer = work()
      await fate
      return answer
    }
    return {
      renew: (session) => call('renew', () => void this.holders.set(session, this.#nowMs())),
      view: () =>
        call('view', () => ({
          holders: [...this.holders].map(([session, at]): LeaseHolder => ({
            session,
            ageMs: this.#nowMs() - at,
          })),
          rows: this.rows.map((row, lane): LeaseRow => ({ lane, ...row })),
        })),
      take: (session, { lanes, dead, deadMs }) =>
        call('take', () => {
          for (const gone of dead) {
            const at = this.holders.get(gone)
            if (at !== undefined && Math.abs(this.#nowMs() - at) > deadMs) this.holders.delete(gone)
          }
          const free = this.#of(lanes).filter(
            ([lane, { owner }]) => !this.holders.has(owner) && !this.locked.has(lane),
          )
          for (const [, row] of free) Object.assign(row, { owner: session, epoch: row.epoch + 1 })
          return free.length > 0
        }),
      release: (session, lanes) =>
        call('release', () => {
          for (const [, row] of this.#of(lanes)) if (row.owner === session) row.owner = ''
        }),
      leave: (session) => call('leave', () => void this.holders.delete(session)),
    }
  }

  #of(lanes: readonly number[]) {
    return [...this.rows.entries()].filter(([lane]) => lanes.includes(lane))
  }
}
