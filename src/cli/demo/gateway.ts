// A gateway of the demo's own: a child process with a token, a port and a folder of its own.
//
// Invariants:
//   demo-gateway/1. It does not outlive the demo, however that ends: it stops once its standard
//     input closes.
//   demo-gateway/2. It inherits no setting: a production database or token around it is not the
//     demo's.

import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { Fetch } from '#src/client/runtime'
import type { Env } from '#src/config/environment'
import { CommandError } from '#src/cli/endings'
import { withoutSettings } from '#src/cli/own-environment'
import { serveWhileStdin } from '#src/cli/own-program'

const READY_WITHIN_MS = 30_000
const READY_POLL_MS = 50
const STOP_WITHIN_MS = 30_000
const OUTPUT_CHARACTERS_MAX = 4_000

export interface OwnGateway {
  readonly baseUrl: string
  /** A secret. */
  readonly token: string
  /** Aborted when it ended by itself; the reason is the error for the person. */
  readonly failed: AbortSignal
  /** Ends it gently and removes its folder. */
  stop(): Promise<void>
}

export interface OwnGatewayOptions {
  readonly env: Env
  readonly fetch: Fetch
  /** The folder in which it makes its own. */
  readonly temporaryFolder: string
  /** Aborts the start. */
  readonly signal: AbortSignal
  /** Further settings, beside its own. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

/**
 * Starts it and waits until it is ready; undefined when the signal gave up first. Throws
 * CommandError when it does not become ready.
 */
export async function startOwnGateway(options: OwnGatewayOptions): Promise<OwnGateway | undefined> {
  const port = await freePort()
  const folder = mkdtempSync(join(options.temporaryFolder, 'heliograph-demo-'))
  const token = randomBytes(24).toString('hex')
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

interface Place {
  readonly folder: string
  readonly token: string
  readonly port: number
  readonly env: Env
  readonly settings: OwnGatewayOptions['settings']
}

class ChildGateway implements OwnGateway {
  readonly baseUrl: string
  readonly token: string
  readonly failed: AbortSignal
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #isStopping = false
  #output = ''

  constructor({ folder, token, port, env, settings }: Place) {
    this.baseUrl = `http://127.0.0.1:${port}`
    this.token = token
    this.#folder = folder
    this.#child = spawn(process.execPath, serveWhileStdin(), {
      cwd: folder,
      env: childEnv(env, { folder, token, port, settings }),
      // Ctrl-C in the terminal reaches a whole process group; the demo must hear of it first.
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

  /** False when the signal gave up. */
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
    process.off('exit', this.#remove)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  readonly #remove = (): void => {
    this.#child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #failure(what: string): CommandError {
    return new CommandError(`the demo's gateway ${what}\n${this.#output.trim()}`.trim())
  }
}

/** The environment without settings of gateways and of this command, and the demo's own ones. */
function childEnv(env: Env, place: Omit<Place, 'env'>): NodeJS.ProcessEnv {
  const { folder, token, port, settings } = place
  return {
    ...withoutSettings(env), // demo-gateway/2
    SERVICE_HTTP_ADDR: `127.0.0.1:${port}`,
    SERVICE_TOKEN: token,
    SERVICE_DATABASE_URL: `sqlite:${join(folder, 'heliograph.db')}`,
    SERVICE_LOG_LEVEL: 'warn',
    ...settings,
  }
}

/** A port that nobody listens on at this moment. */
async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new CommandError('no port is free')
  return address.port
}
