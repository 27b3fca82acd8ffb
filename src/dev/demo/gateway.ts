// Runs the demo's own gateway: a child process with a token, a port and a folder of its own.
//
// Invariants:
//   demo-gateway/1. The gateway does not outlive the demo, however that ends: it stops once its
//     standard input closes.
//   demo-gateway/2. The gateway inherits no setting, so the demo cannot use a production database
//     or token.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { Fetch } from '#src/client/runtime'
import type { Env } from '#src/config/environment'
import { CommandError } from '#src/cli/endings'
import { withoutSettings } from '#src/dev/own-program'
import { serveWhileStdin } from '#src/dev/own-program'
import { reservePort } from '#src/dev/servers/port'
import type { ReservedPort } from '#src/dev/servers/port'

const READY_WITHIN_MS = 30_000
const READY_POLL_MS = 50
const STOP_WITHIN_MS = 30_000
const OUTPUT_CHARACTERS_MAX = 4_000

interface OwnGateway {
  readonly baseUrl: string
  /** A secret. */
  readonly token: string
  /** Aborted when the gateway ends by itself; the reason is the error for the user. */
  readonly failed: AbortSignal
  /** Ends it gently and removes its folder. */
  stop(): Promise<void>
}

interface OwnGatewayOptions {
  readonly env: Env
  readonly fetch: Fetch
  /** The folder in which the gateway's own folder is made. */
  readonly temporaryFolder: string
  /** Aborts the start. */
  readonly signal: AbortSignal
  /** Settings of the gateway beside those that the demo makes. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/**
 * Starts a gateway and waits until it is ready; undefined when the signal is aborted first. Throws
 * CommandError when the gateway does not become ready.
 */
export async function startOwnGateway(options: OwnGatewayOptions): Promise<OwnGateway | undefined> {
  const port = await reservePort()
  const folder = mkdtempSync(join(options.temporaryFolder, 'heliograph-demo-'))
  // Short: it is a part of the address that the demo shows.
  const token = randomBytes(18).toString('base64url')
  const gateway = new ChildGateway({
    folder,
    token,
    port,
    env: options.env,
    settings: options.settings,
  })
  try {
    if (await gateway.becomesReady(options)) return gateway
  } catch (error) {
    await gateway.stop()
    throw error
  }
  await gateway.stop()
  return undefined
}

interface ChildOptions {
  readonly folder: string
  readonly token: string
  readonly port: ReservedPort
  readonly env: Env
  readonly settings: OwnGatewayOptions['settings']
}

class ChildGateway implements OwnGateway {
  readonly baseUrl: string
  readonly token: string
  readonly failed: AbortSignal
  readonly #folder: string
  readonly #port: ReservedPort
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #isStopping = false
  #output = ''

  constructor({ folder, token, port, env, settings }: ChildOptions) {
    this.baseUrl = `http://127.0.0.1:${port.port}`
    this.token = token
    this.#folder = folder
    this.#port = port
    this.#child = spawn(process.execPath, serveWhileStdin(), {
      cwd: folder,
      env: childEnv(env, { folder, token, port, settings }),
      // In a process group of its own, so that Ctrl-C in the terminal reaches only the demo, which
      // then stops the gateway.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'], // demo-gateway/1
    })
    process.once('exit', this.#remove)
    const failed = new AbortController()
    this.failed = failed.signal
    this.#exited = once(this.#child, 'exit').then(() => {
      if (!this.#isStopping) failed.abort(this.#failure('stopped by itself'))
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = `${this.#output}${text}`.slice(-OUTPUT_CHARACTERS_MAX)
      })
    }
  }

  /** False when the signal is aborted first. */
  async becomesReady({ fetch: ask, signal }: OwnGatewayOptions): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.token}` }
    for (let waited = 0; waited < READY_WITHIN_MS; waited += READY_POLL_MS) {
      this.failed.throwIfAborted()
      if (signal.aborted) return false
      const answer = await ask(`${this.baseUrl}/readyz`, { headers }).catch(() => undefined)
      if (answer?.ok === true) return true
      await delay(READY_POLL_MS)
    }
    throw this.#failure('was not ready in time')
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#child.kill('SIGTERM')
    const isGone = await Promise.race([
      this.#exited.then(() => true),
      delay(STOP_WITHIN_MS, false, { ref: false }),
    ])
    if (!isGone) this.#child.kill('SIGKILL')
    await this.#exited
    await this.#port.release()
    process.off('exit', this.#remove)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  readonly #remove = (): void => {
    this.#child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #failure(problem: string): CommandError {
    return new CommandError(`the demo's gateway ${problem}\n${this.#output.trim()}`.trim())
  }
}

/** The environment of the gateway: the demo's settings and no other setting. */
function childEnv(env: Env, options: Omit<ChildOptions, 'env'>): NodeJS.ProcessEnv {
  const { folder, token, port, settings } = options
  return {
    ...withoutSettings(env), // demo-gateway/2
    SERVICE_HTTP_ADDR: `127.0.0.1:${port.port}`,
    SERVICE_TOKEN: token,
    SERVICE_DATABASE_URL: `sqlite:${join(folder, 'heliograph.db')}`,
    SERVICE_LOG_LEVEL: 'warn',
    ...settings,
  }
}
