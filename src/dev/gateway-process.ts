// Runs a gateway of this program in a child process, until this process stops it.
//
// Invariants:
//   gateway-process/1. The gateway does not outlive this process, however that ends: this process
//     kills it at the exit, and the gateway stops by itself when its standard input closes.
//   gateway-process/2. The gateway inherits no setting, so it cannot use a production database or
//     token.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

import type { Env } from '#src/config/environment'
import { onOneLine } from '#src/cli/terminal-text'
import { serveWhileStdin, withoutSettings } from './own-program.ts'
import { atExit } from './servers/at-exit.ts'

/** Longer than the gateway's own limit. */
const STOP_WITHIN_MS = 25_000

interface GatewayOptions {
  readonly port: number
  /** The working directory: one without an `.env`. */
  readonly folder: string
  readonly env: Env
  /** Its settings beside the address. */
  readonly settings: Readonly<Record<string, string>>
}

export class GatewayProcess {
  readonly baseUrl: string
  /** Resolves when the process has ended: with the signal, or `exit code <n>`. */
  readonly ended: Promise<string>
  readonly #child: ChildProcess
  #isRunning = true
  #isStopping = false

  constructor({ port, folder, env, settings }: GatewayOptions) {
    this.baseUrl = `http://127.0.0.1:${port}`
    this.#child = spawn(process.execPath, serveWhileStdin(), {
      cwd: folder,
      // gateway-process/2
      env: { ...withoutSettings(env), SERVICE_HTTP_ADDR: `127.0.0.1:${port}`, ...settings },
      // In a process group of its own, so that Ctrl-C in the terminal reaches only this process,
      // which then stops the gateway.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'], // gateway-process/1
    })
    const forget = atExit(() => this.#child.kill('SIGKILL')) // gateway-process/1
    const ended = Promise.withResolvers<string>()
    this.#child.once('error', (error) => ended.resolve(onOneLine(error.message)))
    // At `close`, not at `exit`, when its last lines may still be unread.
    this.#child.once('close', (code, signal) => ended.resolve(signal ?? `exit code ${code}`))
    this.ended = ended.promise.then((ending) => {
      this.#isRunning = false
      forget()
      return ending
    })
  }

  /** Calls back with each line of its output and of its log. */
  onLine(callback: (line: string) => void): void {
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', callback)
    }
  }

  /** Undefined when the process could not start. */
  get processId(): number | undefined {
    return this.#child.pid
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Ends the gateway by SIGTERM, so that it drains; kills it when that takes too long. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_WITHIN_MS)
    await this.ended
    clearTimeout(late)
  }
}
