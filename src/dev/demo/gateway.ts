// Runs the demo's own gateway: a child process with a token, a port and a folder of its own.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { Fetch } from '#src/client/runtime'
import type { Env } from '#src/config/environment'
import { CommandError } from '#src/cli/endings'
import { GatewayProcess } from '#src/dev/gateway-process'
import { atExit } from '#src/dev/servers/at-exit'
import { reservePort } from '#src/dev/servers/port'

const READY_WITHIN_MS = 30_000
const READY_POLL_MS = 50
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
  const { env, settings, temporaryFolder } = options
  const { port, release } = await reservePort()
  const folder = mkdtempSync(join(temporaryFolder, 'heliograph-demo-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // Registered before the gateway starts, since the function registered last runs first.
  const forget = atExit(remove)
  // Short: it is a part of the address that the demo shows.
  const token = randomBytes(18).toString('base64url')
  const gateway = new GatewayProcess({
    port,
    folder,
    env,
    settings: {
      SERVICE_TOKEN: token,
      SERVICE_DATABASE_URL: `sqlite:${join(folder, 'heliograph.db')}`,
      SERVICE_LOG_LEVEL: 'warn',
      ...settings,
    },
  })
  let output = ''
  gateway.onLine((line) => {
    output = `${output}${line}\n`.slice(-OUTPUT_CHARACTERS_MAX)
  })
  const failure = (problem: string): CommandError =>
    new CommandError(`the demo's gateway ${problem}\n${output.trim()}`.trim())
  const failed = new AbortController()
  void gateway.ended.then(() => {
    if (!gateway.isStopping) failed.abort(failure('stopped by itself'))
  })
  const stop = async (): Promise<void> => {
    await gateway.stop()
    await release()
    forget()
    remove()
  }
  const own = { baseUrl: gateway.baseUrl, token, failed: failed.signal, stop }
  let isReady: boolean | undefined
  try {
    isReady = await becomesReady(own, options)
    if (isReady === undefined) throw failure('was not ready in time')
  } finally {
    if (isReady !== true) await stop()
  }
  return isReady ? own : undefined
}

/** False when the signal is aborted first; undefined after too long. */
async function becomesReady(
  { baseUrl, token, failed }: OwnGateway,
  { fetch: ask, signal }: OwnGatewayOptions,
): Promise<boolean | undefined> {
  const headers = { authorization: `Bearer ${token}` }
  for (let waited = 0; waited < READY_WITHIN_MS; waited += READY_POLL_MS) {
    failed.throwIfAborted()
    if (signal.aborted) return false
    const answer = await ask(`${baseUrl}/readyz`, { headers }).catch(() => undefined)
    if (answer?.ok === true) return true
    await delay(READY_POLL_MS)
  }
  return undefined
}
