// A whole gateway, run as a user runs it: its own process, its own data, a port that the system
// chose.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import type { ExecutionContext } from 'ava'

import { WAIT_MS } from './bounds.ts'
import { makeTables } from './made-tables.ts'
import { program } from './program.ts'
import { QUICK_PASSWORDS } from './quick-passwords.ts'

/** That which a server ends with: a test, or all tests of a file. */
export type Owner = Pick<ExecutionContext, 'teardown'>

export interface Line {
  readonly fact?: string
  readonly port?: number
  readonly level?: number
  readonly [name: string]: unknown
}

/** A running gateway process. */
export interface Gateway {
  readonly baseUrl: string
  readonly token: string
  readonly process: ChildProcess
  /** The database file. */
  readonly database: string
  /** The log lines so far. */
  readonly lines: readonly Line[]
  /** Sends a signal and waits for the end; gives the exit code, or the signal that killed it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

export interface GatewayOptions {
  /**
   * The folder for the data. Without one a temporary folder is made, with a database whose tables
   * stand, and removed with the test.
   */
  readonly directory?: string
  readonly env?: Readonly<Record<string, string>>
  /** Flags of Node beside those of the tests. */
  readonly flags?: readonly string[]
  /** True where the database has passwords that no gateway of these tests has hashed. */
  readonly hasForeignPasswords?: boolean
}

/** The token of every test gateway: with it the password budget does not count. */
export const TOKEN = 'test-gateway-token'

const { NODE_COMPILE_CACHE: compiled } = process.env
/** Where a whole run keeps compiled code: a gateway starts in a tenth less processor time. */
const COMPILED = compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }

/** The environment of a gateway whose clock is ahead of the machine's. */
export function aheadBy(ms: number): Readonly<Record<string, string>> {
  const preload = new URL('clock-ahead.ts', import.meta.url)
  preload.searchParams.set('ms', String(ms))
  return { NODE_OPTIONS: `--import=${preload.href}` }
}

/** A temporary folder that goes with its owner. */
export async function temporaryFolder(t: Owner): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'heliograph-test-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Starts a gateway and waits until it listens. It is killed with its owner at the latest. */
export async function startGateway(
  t: Owner,
  { directory, env = {}, flags = [], hasForeignPasswords = false }: GatewayOptions = {},
): Promise<Gateway> {
  const folder = directory ?? (await temporaryFolder(t))
  const database = join(folder, 'gateway.db')
  if (directory === undefined) await makeTables(database)
  const child = spawn(process.execPath, [...flags, ...program('main')], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      SERVICE_HTTP_ADDR: '127.0.0.1:0',
      SERVICE_TOKEN: TOKEN,
      SERVICE_DATABASE_URL: `sqlite:${database}`,
      ...COMPILED,
      ...env,
      NODE_OPTIONS: `${hasForeignPasswords ? '' : QUICK_PASSWORDS} ${env['NODE_OPTIONS'] ?? ''}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: Line[] = []
  const port = await listeningPort(child, lines)
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    token: env['SERVICE_TOKEN'] ?? TOKEN,
    process: child,
    database,
    lines,
    end: async (signal) => {
      const ended = once(child, 'exit')
      child.kill(signal)
      const [code, killer] = (await ended) as [number | null, NodeJS.Signals | null]
      return code ?? killer ?? 'SIGKILL'
    },
  }
}

function listeningPort(child: ChildProcess, lines: Line[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let errors = ''
    const timer = setTimeout(() => {
      reject(new Error(`the gateway did not listen in time: ${JSON.stringify(lines)} ${errors}`))
    }, WAIT_MS)
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`the gateway ended with ${code}: ${JSON.stringify(lines)} ${errors}`))
    })
    if (child.stdout === null) throw new Error('the gateway has no output')
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = lineFrom(text)
      lines.push(line)
      if (line.fact !== 'listening' || line.port === undefined) return
      clearTimeout(timer)
      resolve(line.port)
    })
  })
}

function lineFrom(text: string): Line {
  try {
    return JSON.parse(text) as Line
  } catch {
    return { fact: text }
  }
}

/** A POST with the gateway token; gives the status and the parsed body. */
export async function post(
  gateway: Pick<Gateway, 'baseUrl' | 'token'>,
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly body: Envelope }> {
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.token}` },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Envelope }
}

export interface Envelope {
  readonly success: boolean
  readonly data: Readonly<Record<string, unknown>>
  readonly error_code?: string
}

/** Calls a GET route with the gateway token. */
export async function get(
  gateway: Pick<Gateway, 'baseUrl' | 'token'>,
  path: string,
): Promise<{ readonly status: number; readonly body: Envelope }> {
  const response = await fetch(gateway.baseUrl + path, {
    headers: { authorization: `Bearer ${gateway.token}` },
  })
  return { status: response.status, body: (await response.json()) as Envelope }
}

/** A figure of the gateway, summed over its labels; 0 when it has none of the name. */
export async function figureOf(
  { baseUrl, token }: Pick<Gateway, 'baseUrl' | 'token'>,
  name: string,
): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const text = await (await fetch(`${baseUrl}/metrics`, { headers })).text()
  const lines = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))
  return [...lines].reduce((sum, [, figure]) => sum + Number(figure), 0)
}

/** Asking costs the processor that is waited for, so long waits ask less often. */
const PAUSE_MS_MAX = 50

/** Asks again until `done` is true; fails after a bound. */
export async function until<Value>(
  ask: () => Promise<Value>,
  done: (value: Value) => boolean,
  timeoutMs = WAIT_MS,
): Promise<Value> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = 10; ; pauseMs = Math.min(1.2 * pauseMs, PAUSE_MS_MAX)) {
    const value = await ask()
    if (done(value)) return value
    if (performance.now() > deadline) {
      throw new Error(`not in ${timeoutMs} ms; last seen: ${JSON.stringify(value)?.slice(0, 500)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
