// The process as the command line sees it: environment, terminal, signals. Tests hand in their own.

import type { Readable } from 'node:stream'

import type { Runtime } from '#domain/runtime'
import { WEB } from '#src/client/runtime'
import type { Fetch, FetchAnswer } from '#src/client/runtime'
import { gatewayEnvironment, processEnvironment } from '#src/config/environment'
import type { Env } from '#src/config/environment'
import { escaped } from './terminal-text.ts'

export interface ProcessContext extends Pick<Runtime, 'nowMs' | 'monotonicMs' | 'after'> {
  readonly env: Env
  readonly fetch: Fetch
  readonly terminal: Terminal
  /** The whole standard input as text. */
  readonly readInput: () => Promise<string>
  /** The standard input as a stream. */
  readonly input: () => Readable
  /** Runs a gateway until a signal stops it, and gives its exit code. It reads .env, too. */
  readonly serve: (env: Env) => Promise<number>
  /** Collects garbage sooner from now on, which takes half as much time again. */
  readonly saveMemory: () => void
  /** The first Ctrl-C (or signal to end) aborts it; a second one ends the process at once. */
  readonly untilStopped: () => AbortSignal
}

export interface Terminal {
  /** Prints one line of the result on the standard output. */
  print(line: string): void
  /** Writes a part of the result as it is; resolves once there is room for more. */
  write(part: string | Uint8Array): Promise<void>
  /** Prints a warning, an error or a note as one line on the standard error output. */
  printDiagnostic(line: string): void
  /** Writes text with control sequences as it is; only where `screen` gives a size. */
  draw(text: string): void
  /** The size of the terminal of the standard output; undefined when that is no terminal. */
  screen(): Screen | undefined
  /** The same for the standard error output. */
  progressScreen(): Screen | undefined
  /** Replaces the line that it drew before on the standard error output; '' removes it. */
  drawProgress(line: string): void
}

export interface Screen {
  readonly columns: number
  readonly rows: number
  /** False with NO_COLOR, and on a terminal without colours. */
  readonly hasColor: boolean
}

export function processContext(): ProcessContext {
  const env = processEnvironment()
  const monotonicMs = (): number => performance.now()
  return {
    env,
    fetch: leanFetch,
    nowMs: () => Date.now(),
    monotonicMs,
    after: WEB.after,
    terminal: processTerminal(hasColorIn(env)),
    readInput,
    input: () => process.stdin,
    // Loaded on demand: commands that only send requests need no server and no database.
    serve: async (settings) =>
      (await import('#src/process/serve')).serve(gatewayEnvironment(settings)),
    saveMemory: () => process.getBuiltinModule('node:v8').setFlagsFromString('--optimize-for-size'),
    untilStopped: () => untilStopped(monotonicMs),
  }
}

/** False with NO_COLOR (no-color.org), and on a terminal that has no colours. */
export const hasColorIn = (env: Env): boolean =>
  (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  // Without an encoding every chunk is bytes.
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks).toString('utf8')
}

function processTerminal(hasColor: boolean): Terminal {
  // A reader that closes the pipe (`heliograph watch | head`) is no failure of the command.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    process.stderr.write(`error: the output is lost: ${error.message}\n`, () => process.exit(1))
  })
  return terminalOver(process, hasColor)
}

/** A standard output or standard error output. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'> & {
  readonly write: (part: string | Uint8Array, done?: () => void) => unknown
}

/** The terminal over a process's outputs; each is a terminal or a pipe. */
export function terminalOver(
  { stdout, stderr }: { readonly stdout: Output; readonly stderr: Output },
  hasColor: boolean,
): Terminal {
  const screenOf = ({ isTTY, columns, rows }: Output): Screen | undefined =>
    isTTY ? { columns: columns || 80, rows: rows || 24, hasColor } : undefined
  const printOn = (output: Output, line: string): void => {
    output.write(`${output.isTTY ? escaped(line) : line}\n`) // terminal-text/1
  }
  return {
    print: (line) => printOn(stdout, line),
    write: (part) => new Promise((resolve) => void stdout.write(part, () => resolve())),
    printDiagnostic: (line) => printOn(stderr, line),
    draw: (text) => void stdout.write(text),
    screen: () => screenOf(stdout),
    progressScreen: () => screenOf(stderr),
    drawProgress: (line) => {
      if (stderr.isTTY) stderr.write(`\r\u001b[2K${line}`)
    },
  }
}

/** A terminal that closes sends SIGHUP. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * One Ctrl-C may arrive twice: from the terminal, and from npx, which passes it on where its shell
 * replaces itself with the command.
 */
const ECHO_WITHIN_MS = 300

function untilStopped(monotonicMs: Runtime['monotonicMs']): AbortSignal {
  const stopping = new AbortController()
  let stoppedMs = Number.NEGATIVE_INFINITY
  for (const signal of END_SIGNALS) {
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

// Node's own fetch takes longer to load than the rest of a short command.

/** No answer of a gateway that is read at once is this long. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/**
 * Sends one HTTP request over node:http, in the form of fetch that the client uses. Rejects when
 * there is no answer, or when the signal is aborted.
 */
const leanFetch: Fetch = async (url, { method = 'GET', headers = {}, body, signal } = {}) => {
  // An import of these modules would load all their parts, fetch among them.
  const { request } = url.startsWith('https:')
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http')
  const { promise, resolve, reject } = Promise.withResolvers<FetchAnswer>()
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const outgoing = request(
    url,
    { method, headers: { ...headers, ...length }, ...(signal && { signal }) },
    (answer) => {
      const status = answer.statusCode ?? 0
      resolve({
        ok: status >= 200 && status < 300,
        status,
        headers: { get: (name) => headerText(answer.headers[name.toLowerCase()]) },
        body: answer,
        text: () => textOf(answer),
      })
    },
  )
  // As with fetch, the cause tells whether the request can have reached the gateway.
  outgoing.on('error', (error) => reject(new Error('there is no answer', { cause: error })))
  outgoing.end(body)
  return await promise
}

/** The whole answer; rejects for one that is too long, or breaks off. */
async function textOf(answer: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const headerText = (value: string | string[] | undefined): string | null =>
  Array.isArray(value) ? value.join(', ') : (value ?? null)
