// A server as a child process: starts it and waits until it is ready, stops, kills and restarts it.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

import { atExit } from './at-exit.ts'
import { findProgram } from './programs.ts'
import type { Surroundings } from './programs.ts'

/** The operations of every started server. */
export interface RunningServer {
  readonly port: number
  /** Ends it gently, then removes what was temporary. */
  stop(): Promise<void>
  /** Sends a signal; after SIGKILL and SIGTERM it resolves once the process is gone. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts it again on the same port and data; kills it first when it still runs. */
  restart(): Promise<void>
}

/** The supervision of a server by the process that starts it. */
export interface Supervision {
  /** True: Ctrl-C in the terminal does not reach it, so that it ends when it is told to. */
  readonly isApart?: boolean | undefined
  /** Told when it ends by itself after it was ready: a signal, or an exit code in words. */
  readonly onEnd?: ((how: string) => void) | undefined
}

export interface ServerCommand extends Supervision {
  readonly file: string
  readonly parameters: readonly string[]
  readonly env: Surroundings
  /** The line of its output that says that it is ready. */
  readonly readyLine: RegExp
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 15_000
const OUTPUT_KEPT = 8000
const LAST_SIGNALS: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGQUIT', 'SIGINT']

/** Linux ends a server together with the process that started it, however that one ends. */
async function bound(env: Surroundings): Promise<readonly string[]> {
  const file = await findProgram('setpriv', env)
  return file === undefined ? [] : [file, '--pdeathsig', 'KILL']
}

/** One server program; at most one process of it runs at a time. */
export class ServerProcess {
  readonly #command: ServerCommand
  readonly #forget: () => void
  #child: ChildProcess | undefined
  #output = ''
  /** Ready, and not asked to end since. */
  #isUp = false

  constructor(command: ServerCommand) {
    this.#command = command
    // A process that ends in the middle must not leave its servers behind.
    this.#forget = atExit(() => this.#child?.kill('SIGKILL'))
  }

  /**
   * Resolves once it is ready; rejects with its last output when it ends before, or takes too long.
   */
  async start(): Promise<void> {
    const { file, parameters, env, isApart, onEnd } = this.#command
    const [program = file, ...rest] = [...(await bound(env)), file, ...parameters]
    const child = spawn(program, rest, {
      env: { ...env },
      detached: isApart === true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#output = ''
    const gone = (): void => {
      if (this.#child === child) this.#child = undefined
    }
    child.once('error', gone)
    child.once('exit', (code, signal) => {
      gone()
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

  /** The last part of what it wrote. */
  get output(): string {
    return this.#output
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    await this.end('SIGTERM')
    this.#forget()
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
      const hear = (chunk: Buffer): void => {
        this.#output = (this.#output + chunk.toString()).slice(-OUTPUT_KEPT)
        if (!readyLine.test(this.#output)) return
        clearTimeout(timer)
        resolve()
      }
      child.stdout?.on('data', hear)
      child.stderr?.on('data', hear)
      child.once('error', (error) => fail(error.message))
      // Not at 'exit': its last words may not have been read by then.
      child.once('close', (code, signal) => fail(`ended with ${code ?? signal}`))
    })
  }
}
