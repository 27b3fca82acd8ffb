// The folder of a cluster, and the folders that killed clusters have left behind. A lock beside a
// folder names the process that uses it; a folder goes before its lock, so that none is left
// without one.

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { unlockFile, tryLockFile } from '#src/dev-servers/lock-file'

export const FOLDER_PREFIX = 'heliograph-dev-cluster-'
/** A server that was killed a moment ago may still be writing. */
export const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 } as const
const LOCK = '.lock'

/** Marks a folder as used by this process. Gives the lock, which is removed after the folder. */
export async function holdFolder(folder: string): Promise<string> {
  const lock = `${folder}${LOCK}`
  if (!(await tryLockFile(lock))) throw new Error(`${lock} is held by another process`)
  return lock
}

/** Removes the folders whose process is gone. One that cannot be removed is left as it is. */
export async function removeLeftovers(temporaryFolder: string): Promise<void> {
  for (const name of await readdir(temporaryFolder)) {
    if (!name.startsWith(FOLDER_PREFIX) || !name.endsWith(LOCK)) continue
    const lock = join(temporaryFolder, name)
    const isLeft = await tryLockFile(lock).catch(() => false)
    if (!isLeft) continue
    await rm(lock.slice(0, -LOCK.length), REMOVAL).then(
      () => unlockFile(lock),
      () => undefined, // A process that is alive holds it from now on, and the next start tries.
    )
  }
}
