// The process around the command line: environment, terminal, signals. Tests hand in their own.

import type { Runtime } from '#domain/runtime'
import { readEnv } from '#src/config/config'
import type { Env } from '#src/config/config'
import { systemRuntime } from '#src/process/system-runtime'

export interface Surroundings extends Pick<Runtime, 'nowMs' | 'monotonicMs'> {
  readonly env: Env
  readonly fetch: typeof fetch
  readonly terminal: Terminal
  /** Runs a gateway until it is stopped; gives its exit code. */
  readonly serve: (env: Env) => Promise<number>
  /** Aborted by the first Ctrl-C (or a request to end); the second one ends the process at once. */
  readonly untilStopped: () => AbortSignal
}

export interface Terminal {
  /** One line of result. */
  print(line: string): void
  /** One line for the person, apart from the results. */
  complain(line: string): void
  /** Text as it is, with control sequences; only where `screen` is given. */
  draw(text: string): void
  /** The size of the terminal; undefined when the output goes elsewhere. */
  screen(): { readonly columns: number; readonly rows: number } | undefined
}

/** The surroundings of this process. */
export function processSurroundings(): Surroundings {
  const { nowMs, monotonicMs } = systemRuntime()
  return {
    env: readEnv(),
    fetch,
    nowMs,
    monotonicMs,
    terminal: processTerminal(),
    // Loaded on demand: commands that only talk to a gateway need no server and no database.
    serve: async (env) => (await import('#src/process/lifecycle')).serve(env),
    untilStopped: () => untilStopped(monotonicMs),
  }
}

function processTerminal(): Terminal {
  // A reader that goes away (`heliograph watch | head`) is no failure: nobody is left to tell.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
  return {
    print: (line) => console.log(line),
    complain: (line) => console.error(line),
    draw: (text) => {
      process.stdout.write(text)
    },
    screen: () => {
      const { isTTY, columns, rows } = process.stdout
      return isTTY ? { columns, rows } : undefined
    },
  }
}

/** SIGHUP comes when the terminal is closed. */
const ENDINGS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * One Ctrl-C may arrive twice: from the terminal, and passed on by npx where its shell replaces
 * itself with the command.
 */
const ECHO_WITHIN_MS = 300

function untilStopped(monotonicMs: Runtime['monotonicMs']): AbortSignal {
  const stopping = new AbortController()
  let stoppedMs = Number.NEGATIVE_INFINITY
  for (const signal of ENDINGS) {
    process.on(signal, () => {
      if (!stopping.signal.aborted) {
        stoppedMs = monotonicMs()
        stopping.abort()
      } else if (monotonicMs() - stoppedMs > ECHO_WITHIN_MS) {
        process.exit(1)
      }
    })
  }
  return stopping.signal
}
