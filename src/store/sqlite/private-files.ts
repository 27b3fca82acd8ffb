// The files of a SQLite database belong to the user of the gateway alone: they hold what channels
// say, and the hashes of their passwords.
//
// Invariants:
//   private-files/1. A file is made with mode 0600, whatever the umask. SQLite gives the files that
//     it makes beside a database (-wal, -shm, -journal) the mode of the database.
//   private-files/2. Files that others can reach, as those of a copy may be, lose that.
//   private-files/3. A folder is closed only when it is the gateway's own: it belongs to the user,
//     has no sticky bit and holds nothing but files of the database. Others may need any other
//     folder (/tmp, a home, a working directory), so it stays as it is.

import { chmodSync, closeSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const FOLDER_MODE = 0o700
export const FILE_MODE = 0o600
/** What a mode lets the group and others do. */
const OTHERS = 0o077
const STICKY = 0o1000

/** What stands behind the name of a database in the names of its files. */
const SUFFIX = /^(-log)?(-wal|-shm|-journal)?$|^-lock(-journal)?$|^-holder(\.new)?$/

/** Makes the folder of a file, and the folders above it that are missing, with mode 0700. */
export function makeFolderOf(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE })
}

/**
 * Makes an empty file with mode 0600 unless there is a file. It never opens one that exists: its
 * closing would end the locks of this process. (sqlite-lock/2)
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE)) // private-files/1
  } catch (error) {
    // It exists, or it cannot be made: then SQLite, which opens it next, refuses it by its name.
    if (!(error instanceof Error) || !('code' in error)) throw error
  }
}

/**
 * Closes the files of a database and of its log to other users, and their folder where that is the
 * gateway's own. Returns the paths that others can reach all the same. The caller holds the lock.
 */
export function closeToOthers(database: string): readonly string[] {
  const userId = process.geteuid?.()
  if (userId === undefined) return [] // Windows has no modes.
  const databases = [realPathOf(database), realPathOf(`${database}-log`)]
  const bases = databases.map((path) => basename(path))
  const isOwn = (name: string): boolean =>
    bases.some((base) => name.startsWith(base) && SUFFIX.test(name.slice(base.length)))
  return [...new Set(databases.map((path) => dirname(path)))].flatMap((folder) => {
    const names = readdirSync(folder)
    const files = names.filter(isOwn).map((name) => join(folder, name))
    for (const file of files) narrow(file, FILE_MODE) // private-files/2
    const { uid, mode } = statSync(folder)
    const isOurs = uid === userId && (mode & STICKY) === 0 && files.length === names.length
    if (isOurs) narrow(folder, FOLDER_MODE) // private-files/3
    return [folder, ...files].filter(isOpen)
  })
}

/** The real path of a file, which need not exist: whatever links lead to it, its path is one. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return join(realpathSync(dirname(path)), basename(path)) // The file does not exist yet.
  }
}

/** True for a file or folder that others can reach; a link has no mode of its own. */
function isOpen(path: string): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false })
  return status !== undefined && !status.isSymbolicLink() && (status.mode & OTHERS) !== 0
}

function narrow(path: string, mode: number): void {
  if (!isOpen(path)) return
  try {
    chmodSync(path, mode)
  } catch {
    // It belongs to another user, or the file system has no modes. The caller reports it.
  }
}
