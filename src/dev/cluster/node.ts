// Runs one node of the cluster: a gateway by `heliograph serve` in a child process.
//
// Invariants:
//   dev-cluster-node/1. A node does not outlive this process, however that ends: this process kills
//     it at the exit, and the node stops by itself when its standard input closes.
//   dev-cluster-node/2. A node inherits no setting, so the cluster cannot use a production database
//     or token.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

import type { Env } from '#src/config/environment'
import { withoutSettings } from '#src/dev/own-program'
import { serveWhileStdin } from '#src/dev/own-program'
import { onOneLine } from '#src/cli/terminal-text'
import { atExit } from '#src/dev/servers/at-exit'
import { factOf } from './fact.ts'
import type { Fact } from './fact.ts'

/** Longer than a node's own limit. */
const STOP_WITHIN_MS = 25_000

export interface NodeOptions {
  readonly name: string
  readonly port: number
  /** The working directory: one without an `.env`. */
  readonly folder: string
  readonly env: Env
  readonly natsUrl: string
  readonly databaseUrl: string
  readonly onFact: (fact: Fact) => void
}

export class ClusterNode {
  readonly name: string
  readonly baseUrl: string
  /** Resolves when the process has ended: with the signal, or `exit code <n>`. */
  readonly ended: Promise<string>
  readonly #child: ChildProcess
  #isRunning = true
  #isStopping = false
  #lastProblem = ''

  constructor(options: NodeOptions) {
    this.name = options.name
    this.baseUrl = `http://127.0.0.1:${options.port}`
    this.#child = spawn(process.execPath, serveWhileStdin(), {
      cwd: options.folder,
      env: settingsOf(options),
      // In a process group of its own, so that Ctrl-C in the terminal reaches only this process,
      // which then stops the node.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'], // dev-cluster-node/1
    })
    const forget = atExit(() => this.#child.kill('SIGKILL')) // dev-cluster-node/1
    const ended = Promise.withResolvers<string>()
    this.#child.once('error', (error) => ended.resolve(onOneLine(error.message)))
    // At `close`, not at `exit`, when its last lines may still be unread.
    this.#child.once('close', (code, signal) => ended.resolve(signal ?? `exit code ${code}`))
    this.ended = ended.promise.then((ending) => {
      this.#isRunning = false
      forget()
      return ending
    })
    this.#readLines(options.onFact)
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

  /** The node's last problem; empty when it has none. */
  get lastProblem(): string {
    return this.#lastProblem
  }

  /** Ends the node by SIGTERM, so that it drains; kills it when that takes too long. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#child.kill('SIGTERM')
    const late = new AbortController()
    const isLate = delay(STOP_WITHIN_MS, true, { signal: late.signal }).catch(() => false)
    if (await Promise.race([this.ended.then(() => false), isLate])) this.#child.kill('SIGKILL')
    await this.ended
    late.abort()
  }

  /** Keeps the line that names the error: the last lines of a crash do not name it. */
  #keep(problem: string): void {
    if (this.#lastProblem === '' || /error/i.test(problem)) this.#lastProblem = problem
  }

  #readLines(onFact: (fact: Fact) => void): void {
    const { stdout, stderr } = this.#child
    for (const stream of [stdout, stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        const fact = factOf(line)
        if (fact === undefined) return
        if (fact.kind === 'problem') this.#keep(fact.text)
        onFact(fact)
      })
    }
  }
}

function settingsOf({ name, port, env, natsUrl, databaseUrl }: NodeOptions): NodeJS.ProcessEnv {
  return {
    ...withoutSettings(env), // dev-cluster-node/2
    SERVICE_NODE_ID: name,
    SERVICE_HTTP_ADDR: `127.0.0.1:${port}`,
    SERVICE_NATS_URL: natsUrl,
    SERVICE_DATABASE_URL: databaseUrl,
    SERVICE_LOG_LEVEL: 'info',
    // The budget limits the guesses of strangers; here every sender is the developer.
    SERVICE_PASSWORD_BUDGET_PER_ADDRESS: '1000000',
    SERVICE_PASSWORD_BUDGET_TOTAL: '1000000',
  }
}
