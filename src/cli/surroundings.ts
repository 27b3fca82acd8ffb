// The process around the command line: environment, terminal, signals. Tests hand in their own.

import type { Readable } from 'node:stream'

import type { Runtime } from '#domain/runtime'
import type { Fetch } from '#src/client/runtime'
import { readEnv } from '#src/config/environment'
import type { Env } from '#src/config/environment'
import { leanFetch } from './lean-fetch.ts'

export interface Surroundings extends Pick<Runtime, 'nowMs' | 'monotonicMs' | 'after'> {
  readonly env: Env
  readonly fetch: Fetch
  readonly terminal: Terminal
  /** The whole standard input as text. */
  readonly readInput: () => Promise<string>
  /** The standard input as a stream. */
  readonly input: () => Readable
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
  screen(): Screen | undefined
  /** The size of the terminal to which `complain` writes; undefined when it writes elsewhere. */
  progressScreen(): Screen | undefined
  /** Text as it is, to the output of `complain`; only where `progressScreen` is given. */
  drawProgress(text: string): void
}

export interface Screen {
  readonly columns: number
  readonly rows: number
  /** False with NO_COLOR, and on a terminal without colours. */
  readonly hasColor: boolean
}

const NODE_MAJOR_MIN = 22

/** The sentence for a person whose Node is too old; undefined for one that is new enough. */
export function nodeRefusal(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= NODE_MAJOR_MIN) return undefined
  return (
    `error: heliograph needs Node ${NODE_MAJOR_MIN} or newer, and this is ${version}; ` +
    '`npx heliograph` runs it with the one that the package brings'
  )
}

/** The surroundings of this process. */
export function processSurroundings(): Surroundings {
  const env = readEnv()
  const monotonicMs = (): number => performance.now()
  return {
    env,
    fetch: leanFetch,
    nowMs: () => Date.now(),
    monotonicMs,
    after: (delayMs, callback) => {
      const timer = setTimeout(callback, delayMs)
      return () => clearTimeout(timer)
    },
    terminal: processTerminal(hasColorIn(env)),
    readInput,
    input: () => process.stdin,
    // Loaded on demand: commands that only talk to a gateway need no server and no database.
    serve: async (settings) => (await import('#src/process/serve')).serve(settings),
    untilStopped: () => untilStopped(monotonicMs),
  }
}

/** True when a terminal may get colours: no-color.org, and terminals that have none. */
export const hasColorIn = (env: Env): boolean =>
  (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  // Without an encoding every chunk is bytes.
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks).toString('utf8')
}

function processTerminal(hasColor: boolean): Terminal {
  // A reader that goes away (`heliograph watch | head`) is no failure of the command.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
  const screenOf = ({ isTTY, columns, rows }: NodeJS.WriteStream): Screen | undefined =>
    isTTY ? { columns, rows, hasColor } : undefined
  return {
    print: (line) => console.log(line),
    complain: (line) => console.error(line),
    draw: (text) => {
      process.stdout.write(text)
    },
    screen: () => screenOf(process.stdout),
    progressScreen: () => screenOf(process.stderr),
    drawProgress: (text) => {
      process.stderr.write(text)
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
