// Settings of Node and of the C library that a gateway runs with. They count only from the start of
// a process, so a process without them replaces itself: nobody needs to know them, whether it is
// npm, a supervisor, a container or `npx heliograph` that starts it.

/**
 * V8: a young generation as large as a batch of work, in every thread (the flag goes before what
 * a worker is given), collected by the thread itself (two cores have no idle ones), and compiled
 * code that is kept over quiet times.
 */
export const NODE_FLAGS: readonly string[] = [
  '--max-semi-space-size=8',
  '--no-parallel-scavenge',
  '--no-flush-bytecode',
]

/**
 * glibc: what is large comes from the system and goes back to it, and so does what is free at the
 * end of a heap: starting leaves 6 MB there. By itself glibc learns from the first 16 MiB of a
 * password check to keep as much, once in each thread of the pool. And threads share two heaps: by
 * default each of the thirteen has its own, half empty.
 */
export const ALLOCATOR: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: String(2 * 2 ** 20),
  MALLOC_TRIM_THRESHOLD_: String(128 * 2 ** 10),
}

/**
 * Replaces this process by the same program with the settings, and does not return then. Returns
 * when it has them, or where a process cannot be replaced: on Windows, and as a child with a
 * channel to its parent.
 */
export function startAnew(): void {
  const { env, execArgv, execPath, argv, connected } = process
  const flags = NODE_FLAGS.filter((flag) => !hasFlag(execArgv, flag))
  const added = Object.entries(ALLOCATOR).filter(([name]) => env[name] === undefined)
  if (flags.length + added.length === 0 || connected) return
  const words = [execPath, ...execArgv, ...flags, ...argv.slice(1)]
  process.execve?.(execPath, words, { ...env, ...Object.fromEntries(added) })
}

/** True when the flag was given, with this or another value. */
const hasFlag = (given: readonly string[], flag: string): boolean =>
  given.some((word) => nameOf(word) === nameOf(flag))

const nameOf = (word: string): string => word.split('=')[0] ?? word
