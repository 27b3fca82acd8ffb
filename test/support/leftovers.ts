// Files that processes may leave behind on this machine.

import { readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0)
  } catch {
    return false
  }
}

/** The names of the lock files that a process holds. */
export const locksOf = (processId: number | undefined): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => {
    if (!/^heliograph-.*\.lock$/.test(name)) return false
    try {
      return readFileSync(join(tmpdir(), name), 'utf8') === String(processId)
    } catch {
      return false // Another process has just let go of it.
    }
  })
