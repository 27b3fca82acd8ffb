// A file that one process at a time may hold, on one machine. Its process id shows whether the
// holder has died.

import { rmSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

import { atExit } from './at-exit.ts'

const LOOK_AGAIN_MS = 200

export interface HoldOptions {
  readonly timeoutMs: number
}

/**
 * Waits until no other process holds the file. Gives a function that lets it go; rejects after the
 * timeout.
 */
export async function holdFile(
  file: string,
  { timeoutMs }: HoldOptions,
): Promise<() => Promise<void>> {
  const deadline = performance.now() + timeoutMs
  while (!(await tryToHoldFile(file))) {
    if (performance.now() > deadline) throw new Error(`${file} is held by another process`)
    await wait(LOOK_AGAIN_MS)
  }
  return () => letGoOfFile(file)
}

/** Gives up a file that this process holds. */
export async function letGoOfFile(file: string): Promise<void> {
  held.get(file)?.()
  held.delete(file)
  await rm(file, { force: true })
}

/** True when this process holds the file now. */
export async function tryToHoldFile(file: string): Promise<boolean> {
  if (await create(file)) return true
  const holder = Number(await readFile(file, 'utf8').catch(() => ''))
  // An empty file is being written at this moment.
  if (holder === 0 || isAlive(holder)) return false
  await rm(file, { force: true })
  return create(file)
}

/**
 * The files that this process holds, each with a function that cancels its removal at the end of
 * the process.
 */
const held = new Map<string, () => void>()

async function create(file: string): Promise<boolean> {
  try {
    await writeFile(file, String(process.pid), { flag: 'wx' })
  } catch {
    return false
  }
  held.get(file)?.()
  held.set(
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
    // The process of another user is alive too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
