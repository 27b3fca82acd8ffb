// Who owns which lane: a row a lane, with its epoch, and a row a holder, which it renews.
//
// Invariants:
//   lease-table/1. A lane is free when no holder owns it. Who takes the lanes of a holder that is
//     gone removes its row in the same transaction, if it is as old by then: a holder that comes
//     back finds either its lanes or their next owner.
//   lease-table/2. A lane's owner and its epoch change together: the owner before is fenced from
//     then on. (W2)
//   lease-table/3. Nobody waits for a lane that another transaction has locked: an owner that hangs
//     in a turn keeps its lanes locked for a moment, and its other lanes are taken meanwhile.

import type { LeaseHolder, LeaseRow, LeaseTable, LeaseTaking, LeaseView } from '#domain/ports'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'

/** Rows of the table of lanes that the same holders share. */
export interface LeaseRange {
  readonly first: number
  readonly count: number
}

const URGENT = { isUrgent: true, isIdempotent: true }

/** A holder, or a lane when it has no age. */
interface ViewRow {
  readonly session: string
  readonly ageMs: number | null
  readonly lane: number
  readonly epoch: number
}

export class Leases implements LeaseTable {
  readonly #database: Database
  readonly #range: LeaseRange

  constructor(database: Database, range: LeaseRange) {
    this.#database = database
    this.#range = range
  }

  renew(session: string): Promise<void> {
    const { nowMs, onDuplicate } = this.#database.dialect
    return this.#database.single(async (executor) => {
      await executor.run(
        `INSERT INTO lease_holders (session, first, renewed_at) VALUES (?, ?, ${nowMs})
          ${onDuplicate(['session'], ['renewed_at'])}`,
        [session, this.#range.first],
      )
    }, URGENT)
  }

  async view(): Promise<LeaseView> {
    const view = await this.#read()
    if (view.rows.length === this.#range.count) return view
    await this.#addLanes()
    return this.#read()
  }

  /** One statement, so that holders and lanes are of one moment. */
  async #read(): Promise<LeaseView> {
    const { first, count } = this.#range
    const found = await this.#database.all<ViewRow>(
      `SELECT session, ${this.#database.dialect.nowMs} - renewed_at AS ageMs, 0 AS lane, 0 AS epoch
          FROM lease_holders WHERE first = ?
        UNION ALL SELECT owner, NULL, lane, epoch FROM lanes WHERE lane >= ? AND lane < ?`,
      [first, first, first + count],
      URGENT,
    )
    const holders: LeaseHolder[] = []
    const rows: LeaseRow[] = []
    for (const { session, ageMs, lane, epoch } of found) {
      if (ageMs === null) rows.push({ lane, epoch, owner: session })
      else holders.push({ session, ageMs })
    }
    return { holders, rows: rows.toSorted((one, other) => one.lane - other.lane) }
  }

  take(session: string, { lanes, dead, deadMs }: LeaseTaking): Promise<boolean> {
    return this.#database.durable(async (executor) => {
      const { nowMs } = executor.dialect
      for (const gone of dead) {
        await executor.run(
          `DELETE FROM lease_holders WHERE session = ? AND abs(${nowMs} - renewed_at) > ?`,
          [gone, deadMs],
        )
      }
      const free = lanes.length === 0 ? [] : await this.#lockFree(executor, lanes)
      if (free.length === 0) return false
      const set = 'owner = k.session, epoch = epoch + 1' // lease-table/2
      await setOwner(executor, { lanes: free, session, set })
      return true
    }, URGENT)
  }

  release(session: string, lanes: readonly number[]): Promise<void> {
    const where = 'lanes.owner = k.session'
    return this.#database.durable(
      (executor) => setOwner(executor, { lanes, session, set: "owner = ''", where }),
      URGENT,
    )
  }

  leave(session: string): Promise<void> {
    return this.#database.single(async (executor) => {
      await executor.run('DELETE FROM lease_holders WHERE session = ?', [session])
    }, URGENT)
  }

  /** Adds the rows of lanes that are missing: what is not there cannot be locked. */
  #addLanes(): Promise<void> {
    const { first, count } = this.#range
    const { keys, onDuplicate } = this.#database.dialect
    const numbers = Array.from({ length: count }, (_, index) => [first + index])
    return this.#database.single(async (executor) => {
      await executor.run(
        `INSERT INTO lanes (lane, epoch, place, owner)
          SELECT k.number, 0, 0, '' FROM ${keys('k', { number: 'integer' })} WHERE 1 = 1
          ${onDuplicate(['lane'], [])}`,
        [JSON.stringify(numbers)],
      )
    }, URGENT)
  }

  /** Locks those of these lanes that no holder owns, and gives their numbers. */
  async #lockFree(executor: Executor, lanes: readonly number[]): Promise<readonly number[]> {
    const { byIndex, forUpdateOfFree } = executor.dialect
    const rows = await executor.all<Pick<LeaseRow, 'lane' | 'owner'>>(
      `SELECT lane, owner FROM lanes${byIndex('PRIMARY')}
        WHERE lane IN (${lanes.map(() => '?').join(', ')})${forUpdateOfFree}`, // lease-table/3
      lanes,
    )
    // Behind the locks: whoever owns such a lane is a holder already. (lease-table/1)
    const holders = await executor.all<Pick<LeaseHolder, 'session'>>(
      'SELECT session FROM lease_holders WHERE first = ?',
      [this.#range.first],
    )
    const sessions = new Set(holders.map(({ session }) => session))
    return rows.flatMap(({ lane, owner }) => (sessions.has(owner) ? [] : lane))
  }
}

interface OwnerChange {
  readonly lanes: readonly number[]
  readonly session: string
  readonly set: string
  readonly where?: string
}

async function setOwner(
  executor: Executor,
  { lanes, session, set, where = '1 = 1' }: OwnerChange,
): Promise<void> {
  const { updateFrom, keys, byIndex } = executor.dialect
  await executor.run(
    updateFrom({
      table: `lanes${byIndex('PRIMARY')}`,
      keys: keys('k', { lane: 'integer', session: 'text' }),
      on: 'lanes.lane = k.lane',
      set,
      where,
    }),
    [JSON.stringify(lanes.map((lane) => [lane, session]))],
  )
}
