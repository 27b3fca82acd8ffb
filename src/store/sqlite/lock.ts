// The lock of a SQLite database: one process at a time has it, and no other changes anything.
//
// Invariants:
//   sqlite-lock/1. The operating system holds the lock, as a lock of SQLite on an empty file beside
//     the database, and ends it with the process, however that ends. The database itself stays
//     unlocked, so a backup can read it.
//   sqlite-lock/2. Only SQLite opens the locked file in this process: on POSIX systems the first
//     close of a file ends every lock that the process has on it. So another file names the holder.
//   sqlite-lock/3. A process that does not get the lock has changed nothing.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

import { IN_MEMORY, SqliteConnection, SqliteError } from './connection.ts'
import { FILE_MODE, makeFolderOf, realPathOf } from './private-files.ts'

/** A database that belongs to this process. */
interface DatabaseLock {
  /**
   * Records the address at which this process listens (`host:port`), for the message of another
   * process that wants the database.
   */
  nameAddress(address: string): void
  release(): void
}

/**
 * Takes the lock of a database file, which need not exist yet; its folder is made. When another
 * process has it, throws an error for the operator, which names the file and that process.
 */
export function lockDatabase(path: string): DatabaseLock {
  if (path === IN_MEMORY) return { nameAddress: () => undefined, release: () => undefined }
  makeFolderOf(path)
  const real = realPathOf(path) // The same database has the same lock.
  const holderFile = `${real}-holder`
  const connection = new SqliteConnection(`${real}-lock`)
  try {
    connection.exec('BEGIN EXCLUSIVE') // sqlite-lock/1
  } catch (error) {
    connection.close()
    if (!(error instanceof SqliteError) || error.code !== 'SQLITE_BUSY') throw error
    throw new DatabaseInUse(path, holderIn(holderFile)) // sqlite-lock/3
  }
  nameHolder(holderFile, { process: process.pid })
  return {
    nameAddress: (address) => nameHolder(holderFile, { process: process.pid, address }),
    release: () => {
      rmSync(holderFile, { force: true })
      connection.close()
    },
  }
}

/** Another process has the database. The message is for the operator. */
export class DatabaseInUse extends Error {
  constructor(path: string, holder: string) {
    super(
      `the database ${path} is in use by ${holder}: one process serves a database, so stop ` +
        'that one, or give this one another SERVICE_DATABASE_URL',
    )
    this.name = 'DatabaseInUse'
  }
}

interface Holder {
  readonly process: number
  readonly address?: string
}

/** Writes the file whole or not at all: another process may read it at any moment. */
function nameHolder(file: string, holder: Holder): void {
  const draft = `${file}.new`
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: FILE_MODE })
  renameSync(draft, file)
}

function holderIn(file: string): string {
  try {
    const holder: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isHolder(holder)) {
      const { process: id, address } = holder
      return `process ${id}${address === undefined ? '' : `, which listens on ${address}`}`
    }
  } catch {
    // The holder is ending or just beginning; the lock alone decides.
  }
  return 'another process'
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false
  const id: unknown = Reflect.get(value, 'process')
  const address: unknown = Reflect.get(value, 'address')
  return Number.isSafeInteger(id) && (address === undefined || typeof address === 'string')
}
