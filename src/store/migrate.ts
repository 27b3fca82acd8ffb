// Brings the tables up to date, even when several processes start at once.
//
// Invariants:
//   migrate/1. One process at a time migrates: the others wait for its lock and then find nothing
//     to do. SQLite belongs to one process.
//   migrate/2. A step may run again after a process ended in the middle of it: MySQL ends DDL by
//     itself, so a migration is no transaction there.
//   migrate/3. A database that a later version has changed is refused: rows that this version
//     writes could be wrong there. One that is too old to be taken over is refused, too.

import type { DataSource } from 'typeorm'

import type { Dialect } from './dialect.ts'
import {
  forgetFormerSteps,
  isFormerStep,
  recordedSteps,
  refuseOlder,
} from './migrations/take-over.ts'
import { StoreError } from './store-error.ts'

const LOCK_WAIT_S_MAX = 120
/** One lock a database; the whole server shares the names of locks. */
const LOCK = `concat('heliograph ', left(sha2(database(), 256), 40))`

/** Runs migrations; gives the number that ran. */
export async function migrate(source: DataSource, dialect: Dialect): Promise<number> {
  const unlock = dialect.engine === 'mysql' ? await lock(source) : undefined // migrate/1
  try {
    const recorded = await checkedSteps(source)
    const applied = await source.runMigrations({ transaction: 'each' }) // migrate/2
    if (recorded.some(isFormerStep)) await forgetFormerSteps(source)
    return applied.length
  } finally {
    await unlock?.()
  }
}

/** Takes the lock, which also ends with its connection. */
async function lock(source: DataSource): Promise<() => Promise<void>> {
  const runner = source.createQueryRunner()
  const [row] = (await runner.query(
    `SELECT GET_LOCK(${LOCK}, ${LOCK_WAIT_S_MAX}) AS isMine`,
  )) as readonly { readonly isMine: number | null }[]
  if (row?.isMine !== 1) {
    await runner.release()
    throw new StoreError('migrating', 'another process has been changing the tables for too long')
  }
  return async () => {
    await runner.query(`DO RELEASE_LOCK(${LOCK})`)
    await runner.release()
  }
}

/** The steps that a database has recorded. Throws unless this version may go on. (migrate/3) */
async function checkedSteps(source: DataSource): Promise<readonly string[]> {
  const runner = source.createQueryRunner()
  try {
    const recorded = await recordedSteps(runner)
    const known = new Set(source.migrations.map(({ name }) => name))
    for (const name of recorded) {
      if (known.has(name) || isFormerStep(name)) continue
      throw new StoreError(
        'newer_database',
        `the database was changed by a newer version of this program (${name}): ` +
          'start that version, or restore a copy of the database from before it',
      )
    }
    refuseOlder(recorded)
    return recorded
  } finally {
    await runner.release()
  }
}
