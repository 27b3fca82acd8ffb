// A database in memory behind the product's own store: transactions of several processes, one after
// the other, whose answers may be late, lost or refused, and which a power cut may undo.

import type { Opener, Runner, RunnerResult, Source } from '#src/store/jobs/executor'
import { SqliteConnection, SqliteError } from '#src/store/sqlite/connection'
import type { SqliteStatement, Values } from '#src/store/sqlite/connection'
import { CLOCK, Failed, SHARED, SOLE } from './database-dialects.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'

/** What may go wrong with one request to the database. */
export interface DatabaseFaults {
  /** Milliseconds of the way to the database and back. */
  readonly delayMs: () => number
  /** The fate of a transaction at its beginning. */
  readonly begin: (owner: Owner) => 'well' | 'lost' | 'silent'
  /** The fate of a transaction at its end. */
  readonly commit: (owner: Owner) => 'well' | 'taken-back' | 'lost-before' | 'lost-after' | 'silent'
  /** True while the disk is full. */
  readonly isFull: () => boolean
  /** True while the database takes no connection. */
  readonly isDown: () => boolean
}

/** The driver's own bound for an answer. */
const SILENT_MS = 10_000
/** A transaction that stands still for so long is rolled back by the server. */
const IDLE_MS = 8_000
/** The longest wait for the locks of another transaction. */
const LOCK_MS = 5_000

interface DatabaseOptions {
  /** The statements that make the tables. */
  readonly tables: readonly string[]
  /** False for one that several machines share, which is never without power. */
  readonly losesPower: boolean
}

interface Transaction {
  readonly owner: Owner
  /** Moves with each statement; the server ends a transaction that stands still. */
  atMs: number
  isOpen: boolean
  /** True when it is on the disk as soon as its end is answered. */
  isSynchronous: boolean
}

export class Database {
  /** The number of statements that have written, but for those that renew leases. */
  writes = 0
  readonly #time: VirtualTime
  readonly #faults: DatabaseFaults
  readonly #connection = new SqliteConnection(':memory:')
  readonly #statements = new Map<string, SqliteStatement>()
  readonly #waiting: { readonly owner: Owner; readonly enter: () => void }[] = []
  /** True when a transaction holds everything behind the last sync: a power cut rolls it back. */
  readonly #losesPower: boolean
  #running: Transaction | undefined
  #isWatched = false

  constructor(time: VirtualTime, faults: DatabaseFaults, { tables, losesPower }: DatabaseOptions) {
    this.#time = time
    this.#faults = faults
    this.#losesPower = losesPower
    // Each page that a transaction changes is copied: small ones take a sixth less time.
    this.#connection.pragma('page_size = 1024')
    this.#connection.pragma('journal_mode = MEMORY')
    for (const sql of tables) this.#connection.exec(sql)
    this.#connection.exec(`CREATE TABLE ${CLOCK} AS SELECT 0 AS now_ms`)
    if (losesPower) this.#connection.exec('BEGIN')
  }

  /** How processes of this owner open it. */
  openerFor(owner: Owner, { isShared }: { readonly isShared: boolean }): Opener {
    const source: Source = {
      createQueryRunner: () => this.#runner(owner, isShared),
      destroy: () => Promise.resolve(),
    }
    const open = async () => {
      await this.#pause(owner, this.#faults.delayMs())
      if (this.#faults.isDown()) throw new Failed('lost')
      return { source, migrations: 0 }
    }
    return { dialect: isShared ? SHARED : SOLE, open }
  }

  /** Rows of a statement, for a judge. */
  rows<Row>(sql: string): readonly Row[] {
    return this.#connection.prepare(sql).all() as unknown as readonly Row[]
  }

  /** Ends the transactions of a process that is gone. */
  forget(owner: Owner): void {
    if (this.#running?.owner === owner) this.#end('ROLLBACK')
  }

  /** Loses what was not synced. */
  cutPower(): void {
    if (this.#running !== undefined) this.#end('ROLLBACK')
    this.#connection.exec('ROLLBACK')
    this.#connection.exec('BEGIN')
  }

  close(): void {
    this.#connection.close()
  }

  #runner(owner: Owner, isShared: boolean): Runner {
    let own: Transaction | undefined
    let isSynchronous = false
    const query = async (
      sql: string,
      parameters: unknown[] = [],
      isStructured = false,
    ): Promise<unknown> => {
      if (sql.startsWith('PRAGMA')) {
        isSynchronous = sql.includes('FULL')
        return isStructured ? ({ raw: 0 } satisfies RunnerResult) : 0
      }
      if (sql.startsWith('BEGIN')) {
        own = await this.#begin(owner, isShared)
        own.isSynchronous = isSynchronous
        return isStructured ? { raw: 0 } : 0
      }
      const isIn = own !== undefined && own === this.#running
      if (own !== undefined && !isIn) {
        own = undefined
        throw new Failed('lost') // The server has ended it meanwhile.
      }
      if (sql === 'COMMIT' || sql === 'ROLLBACK') {
        own = undefined
        await this.#finish(owner, sql)
        return { raw: 0 }
      }
      if (own !== undefined) own.atMs = this.#time.now
      return isIn
        ? this.#execute(sql, parameters, isStructured)
        : this.#alone(owner, () => this.#execute(sql, parameters, isStructured))
    }
    return {
      connect: () => Promise.resolve(this),
      query: query as Runner['query'],
      release: () => Promise.resolve(),
    }
  }

  /** A statement outside of transactions. */
  async #alone<Answer>(owner: Owner, work: () => Answer): Promise<Answer> {
    const transaction = await this.#take(owner, true)
    if (transaction !== this.#running) throw new Failed('lost')
    try {
      return work()
    } finally {
      this.#end('RELEASE')
    }
  }

  async #begin(owner: Owner, isRemote: boolean): Promise<Transaction> {
    const transaction = await this.#take(owner, isRemote)
    if (transaction !== this.#running) throw new Failed('lost')
    this.#prepared(this.#losesPower ? 'SAVEPOINT t' : 'BEGIN').run()
    transaction.isOpen = true
    return transaction
  }

  /** Waits for the database, which one transaction has at a time. */
  async #take(owner: Owner, isRemote: boolean): Promise<Transaction> {
    if (isRemote) await this.#pause(owner, this.#faults.delayMs())
    const fate = this.#faults.isDown() ? 'lost' : this.#faults.begin(owner)
    if (fate === 'silent') await this.#pause(owner, SILENT_MS)
    if (fate !== 'well') throw new Failed(fate)
    return this.#running === undefined ? this.#enter(owner) : this.#turn(owner)
  }

  /** Waits until no other transaction runs. */
  #turn(owner: Owner): Promise<Transaction> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        const transaction = this.#enter(owner)
        this.#time.after(0, () => resolve(transaction), owner)
      }
      const waiting = { owner, enter }
      this.#waiting.push(waiting)
      this.#time.after(
        LOCK_MS,
        () => {
          const at = this.#waiting.indexOf(waiting)
          if (at < 0) return
          this.#waiting.splice(at, 1)
          reject(new Failed('taken-back'))
        },
        owner,
      )
    })
  }

  #enter(owner: Owner): Transaction {
    const atMs = this.#time.now
    const transaction: Transaction = { owner, atMs, isOpen: false, isSynchronous: false }
    this.#running = transaction
    this.#watch(IDLE_MS)
    return transaction
  }

  /** Ends a transaction that stands still. One watch is under way at a time. */
  #watch(delayMs: number): void {
    if (this.#isWatched) return
    this.#isWatched = true
    this.#time.after(delayMs, () => {
      this.#isWatched = false
      if (this.#running === undefined) return
      const leftMs = this.#running.atMs + IDLE_MS - this.#time.now
      if (leftMs > 0) this.#watch(leftMs)
      else this.#end('ROLLBACK')
    })
  }

  async #finish(owner: Owner, how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    const transaction = this.#running
    const fate = how === 'ROLLBACK' ? 'well' : this.#faults.commit(owner)
    const delayMs = this.#faults.delayMs()
    await this.#pause(owner, delayMs)
    if (this.#running !== transaction) throw new Failed('lost')
    const isKept = how === 'COMMIT' && fate !== 'taken-back' && fate !== 'lost-before'
    this.#end(isKept ? 'RELEASE' : 'ROLLBACK')
    if (fate === 'taken-back') throw new Failed('taken-back')
    if (fate === 'silent') await this.#pause(owner, SILENT_MS)
    if (fate !== 'well') throw new Failed(fate === 'silent' ? 'silent' : 'lost')
  }

  #end(how: 'RELEASE' | 'ROLLBACK'): void {
    const { isOpen = false, isSynchronous = false } = this.#running ?? {}
    if (isOpen) this.#leave(how, isSynchronous)
    this.#running = undefined
    for (;;) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      if (next.owner.state !== 'dead') return next.enter()
    }
  }

  #leave(how: 'RELEASE' | 'ROLLBACK', isSynchronous: boolean): void {
    const isUndone = how === 'ROLLBACK'
    if (!this.#losesPower) return void this.#prepared(isUndone ? 'ROLLBACK' : 'COMMIT').run()
    if (isUndone) this.#prepared('ROLLBACK TO t').run()
    this.#prepared('RELEASE t').run()
    if (!isSynchronous || isUndone) return
    this.#prepared('COMMIT').run()
    this.#prepared('BEGIN').run()
  }

  #execute(sql: string, parameters: unknown[], isStructured: boolean): unknown {
    const statement = this.#prepared(sql)
    const values = parameters as unknown as Values
    if (sql.includes(CLOCK)) {
      this.#prepared(`UPDATE ${CLOCK} SET now_ms = ?`).run(Math.floor(this.#time.now))
    }
    if (statement.reader) {
      const rows = statement.all(...values)
      return isStructured ? { raw: rows } : rows
    }
    if (this.#faults.isFull() && /^(INSERT|UPDATE)/.test(sql)) {
      throw new SqliteError(13, 'database or disk is full')
    }
    // Three nodes renew theirs all the time: a look at the final state would never be alone.
    if (!sql.includes('INTO lease_holders')) this.writes += 1
    const { changes, lastInsertRowid } = statement.run(...values)
    return isStructured ? { affected: changes, raw: lastInsertRowid } : lastInsertRowid
  }

  #prepared(sql: string): SqliteStatement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#connection.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  #pause(owner: Owner, delayMs: number): Promise<void> {
    if (delayMs <= 0) return Promise.resolve()
    return new Promise((resolve) => void this.#time.after(delayMs, resolve, owner))
  }
}
