// A folder in memory for what a run of tests writes: databases sync thousands of times, for which a
// run on a disk waits, and the system works. What a process does when it is killed is the same.

import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux has memory as files. */
const MEMORY = '/dev/shm'
/** A run takes some hundred megabytes of it at a time. */
const FREE_BYTES_MIN = 4 * 2 ** 30
const AVAILABLE_BYTES_MIN = 2 * FREE_BYTES_MIN

/** Makes a folder that goes with this process; undefined where the system has no memory for it. */
export function memoryFolder(): string | undefined {
  if (!hasRoom()) return undefined
  const folder = mkdtempSync(join(MEMORY, 'heliograph-tests-'))
  chmodSync(folder, 0o1777) // Servers that are started by root run as others.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, at]) => at === MEMORY)
    const [, , type, options = ''] = mount ?? []
    // Tests run programs from their folders.
    const isFit = type === 'tmpfs' && !options.split(',').includes('noexec')
    return (
      isFit && bavail * bsize >= FREE_BYTES_MIN && process.availableMemory() >= AVAILABLE_BYTES_MIN
    )
  } catch {
    return false
  }
}
