// Locks the folder of a cluster, and removes the folders that killed clusters have left behind. The
// lock file beside a folder names the process that uses it. A folder is removed before its lock, so
// that no folder remains without a lock.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { unlockFile, tryLockFile } from '#src/dev/servers/lock-file'

export const FOLDER_PREFIX = 'heliograph-dev-cluster-'
/** A server that was killed a moment ago may still be writing. */
export const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const
const LOCK = '.lock'

/** Locks a folder for this process. Gives the lock file, which the caller removes last. */
export async function holdFolder(folder: string): Promise<string> {
  const lock = `${folder}${LOCK}`
  if (!(await tryLockFile(lock))) throw new Error(`${lock} is held by another process`)
  return lock
}

/** Removes the folders whose process has ended, except one that it cannot remove. */
export async function removeLeftovers(temporaryFolder: string): Promise<void> {
  for (const name of await readdir(temporaryFolder)) {
    if (!name.startsWith(FOLDER_PREFIX) || !name.endsWith(LOCK)) continue
    const lock = join(temporaryFolder, name)
    const isLeft = await tryLockFile(lock).catch(() => false)
    if (!isLeft) continue
    await rm(lock.slice(0, -LOCK.length), REMOVAL).then(
      () => unlockFile(lock),
      () => undefined, // This process keeps the lock; the next start tries again.
    )
  }
}
