// Runs a server as a child process: starts it, waits until it is ready, stops, kills and restarts
// it.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { atExit } from './at-exit.ts'
import { findProgram } from './programs.ts'
import type { Environment } from './programs.ts'

/** Controls a started server. */
export interface RunningServer {
  readonly port: number
  /** Ends the server gently, then removes its temporary data. */
  stop(): Promise<void>
  /**
   * Sends a signal. For SIGKILL, SIGTERM, SIGQUIT and SIGINT it resolves after the process ended.
   */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts the server again with the same port and data; kills it first while it runs. */
  restart(): Promise<void>
}

/** Options for the process that starts a server. */
export interface Supervision {
  /** When true, Ctrl-C in the terminal does not reach the server: only its starter ends it. */
  readonly isDetached?: boolean | undefined
  /**
   * Called when a ready server ends by itself, with the signal or a text with the exit code.
   */
  readonly onEnd?: ((reason: string) => void) | undefined
}

interface ServerCommand extends Supervision {
  readonly file: string
  readonly parameters: readonly string[]
  readonly env: Environment
  /** Matches the line of output in which the server says that it is ready. */
  readonly readyLine: RegExp
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 15_000
const OUTPUT_KEPT = 8000
const LAST_SIGNALS: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGQUIT', 'SIGINT']

/** Returns a command that makes Linux kill the server when its starter ends, in whatever way. */
async function parentDeathCommand(env: Environment): Promise<readonly string[]> {
  const file = await findProgram('setpriv', env)
  return file === undefined ? [] : [file, '--pdeathsig', 'KILL']
}

/** Runs a server program, in at most one process at a time. */
export class ServerProcess {
  readonly #command: ServerCommand
  readonly #cancelCleanup: () => void
  #child: ChildProcess | undefined
  #output = ''
  /** True from readiness until this process ends the server. */
  #isUp = false

  constructor(command: ServerCommand) {
    this.#command = command
    // A process that exits early must not leave its servers running.
    this.#cancelCleanup = atExit(() => this.#child?.kill('SIGKILL'))
  }

  /**
   * Starts the server. Resolves once it is ready; rejects with its last output when it ends before
   * or takes too long.
   */
  async start(): Promise<void> {
    const { file, parameters, env, isDetached, onEnd } = this.#command
    const [program = file, ...rest] = [...(await parentDeathCommand(env)), file, ...parameters]
    const child = spawn(program, rest, {
      env: { ...env },
      detached: isDetached === true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#output = ''
    const forgetChild = (): void => {
      if (this.#child === child) this.#child = undefined
    }
    child.once('error', forgetChild)
    child.once('exit', (code, signal) => {
      forgetChild()
      if (this.#isUp) onEnd?.(signal ?? `exit code ${code}`)
      this.#isUp = false
    })
    await this.#ready(child)
    this.#isUp = true
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    if (!LAST_SIGNALS.includes(signal)) {
      child.kill(signal)
      return
    }
    this.#isUp = false
    const ended = once(child, 'exit')
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
    await ended
    clearTimeout(timer)
  }

  /** Ends the server and its cleanup action. */
  async close(): Promise<void> {
    await this.end('SIGTERM')
    this.#cancelCleanup()
  }

  #ready(child: ChildProcess): Promise<void> {
    const { file, readyLine } = this.#command
    return new Promise((resolve, reject) => {
      const fail = (what: string): void => {
        clearTimeout(timer)
        reject(new Error(`${file} ${what}: ${this.#output.slice(-2000)}`))
      }
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        fail('was not ready in time')
      }, START_TIMEOUT_MS)
      const onOutput = (chunk: Buffer): void => {
        this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_KEPT)
        if (!readyLine.test(this.#output)) return
        clearTimeout(timer)
        resolve()
      }
      child.stdout?.on('data', onOutput)
      child.stderr?.on('data', onOutput)
      child.once('error', (error) => fail(error.message))
      // At 'exit' this process may not have read the last output yet.
      child.once('close', (code, signal) => fail(`ended with ${code ?? signal}`))
    })
  }
}
