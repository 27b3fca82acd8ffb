// Locks resources on one machine by files, each of which one process at a time owns. The file has
// the owner's process id, by which others detect that the owner has died.

import { rmSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

import { atExit } from './at-exit.ts'

const RETRY_MS = 200

interface LockOptions {
  readonly timeoutMs: number
}

/**
 * Locks a file; waits while another process has locked it. Gives a function that unlocks it.
 * Rejects after the timeout.
 */
export async function lockFile(
  file: string,
  { timeoutMs }: LockOptions,
): Promise<() => Promise<void>> {
  const deadline = performance.now() + timeoutMs
  while (!(await tryLockFile(file))) {
    if (performance.now() > deadline) throw new Error(`another process has locked ${file}`)
    await wait(RETRY_MS)
  }
  return () => unlockFile(file)
}

/** Unlocks a file that this process has locked. */
export async function unlockFile(file: string): Promise<void> {
  cancelRemovals.get(file)?.()
  cancelRemovals.delete(file)
  await rm(file, { force: true })
}

/** Locks a file unless another live process has locked it; true when this process has the lock. */
export async function tryLockFile(file: string): Promise<boolean> {
  if (await create(file)) return true
  const owner = Number(await readFile(file, 'utf8').catch(() => ''))
  // The owner of an empty file is about to write it.
  if (owner === 0 || isAlive(owner)) return false
  await rm(file, { force: true })
  return create(file)
}

/** By file that this process has locked: cancels its removal at the end of the process. */
const cancelRemovals = new Map<string, () => void>()

async function create(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' })
  } catch {
    return false
  }
  cancelRemovals.get(file)?.()
  cancelRemovals.set(
    file,
    atExit(() => rmSync(file, { force: true })),
  )
  return true
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    // EPERM: the process lives and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
