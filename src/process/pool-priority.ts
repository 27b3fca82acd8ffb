// Passwords are computed on the threads of libuv's pool. They give way to the threads that take
// requests and apply them: with the priority of everything else, a crowd that tries passwords made
// a turn four times as long on two cores.

import { readlink } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/** What libuv begins with unless UV_THREADPOOL_SIZE says otherwise. */
const POOL_THREADS = 4
const ROUNDS_MAX = 20
/** A tenth of the share of a thread with the usual priority, so that passwords never stop. */
const LOWERED_BY = 10
const LOWEST = 19

/**
 * Lowers the priority of the pool's threads where the system has one for each thread, which is
 * Linux; elsewhere, and where it is not allowed, everything stays as it is. Gives the threads' ids.
 */
export async function lowerPoolPriority(): Promise<readonly number[]> {
  const threads = await poolThreads().catch(() => [])
  return threads.filter((thread) => {
    try {
      setPriority(thread, Math.min(LOWEST, getPriority() + LOWERED_BY))
      return true
    } catch {
      return false // Not allowed here: passwords are computed all the same.
    }
  })
}

/** The threads that read a link tell which they are; enough reads at once meet all of them. */
async function poolThreads(): Promise<readonly number[]> {
  const threads = new Set<number>()
  for (let round = 0; round < ROUNDS_MAX && threads.size < POOL_THREADS; round += 1) {
    const links = Array.from({ length: POOL_THREADS }, () => readlink('/proc/thread-self'))
    for (const link of await Promise.all(links)) threads.add(Number(basename(link)))
  }
  return [...threads]
}
