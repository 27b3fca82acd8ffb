// Lowers the priority of libuv's threads, which compute passwords. They give way to the threads
// that take requests and apply them: with equal priority, many wrong passwords made a turn take
// four times as long on two cores.

import { readlink } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/** libuv's default, unless UV_THREADPOOL_SIZE says otherwise. */
const POOL_THREADS = 4
const ROUNDS_MAX = 20
/**
 * Leaves a tenth of the share of a thread with the usual priority, so that passwords never stop.
 */
const LOWERED_BY = 10
const LOWEST = 19

/**
 * Lowers the priority of the pool's threads on Linux, where each thread has its own. Changes
 * nothing elsewhere, or where the process may not. Gives the threads' ids.
 */
export async function lowerPoolPriority(): Promise<readonly number[]> {
  const threads = await poolThreads().catch(() => [])
  return threads.filter((thread) => {
    try {
      setPriority(thread, Math.min(LOWEST, getPriority() + LOWERED_BY))
      return true
    } catch {
      return false // The system does not allow it; passwords are computed all the same.
    }
  })
}

/** A thread that reads /proc/thread-self tells its id; enough reads at once reach every thread. */
async function poolThreads(): Promise<readonly number[]> {
  const threads = new Set<number>()
  for (let round = 0; round < ROUNDS_MAX && threads.size < POOL_THREADS; round += 1) {
    const links = Array.from({ length: POOL_THREADS }, () => readlink('/proc/thread-self'))
    for (const link of await Promise.all(links)) threads.add(Number(basename(link)))
  }
  return [...threads]
}
