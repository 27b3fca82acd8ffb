// One connection to NATS for everything in this folder. It reconnects by itself, for ever.
//
// Invariants:
//   nats-connection/1. A connection that does not answer is replaced within PING_MS ×
//     PINGS_UNANSWERED_MAX.
//   nats-connection/2. The client gets nothing to send while it is disconnected: it would buffer
//     without a bound. Senders ask `isConnected` first.
//   nats-connection/3. Log lines have addresses without the credentials before their @.

import { isIP } from 'node:net'
import { checkServerIdentity as checkIdentity } from 'node:tls'

import { AuthorizationError, connect } from '@nats-io/transport-node'
import type { ConnectionOptions, NatsConnection, Status } from '@nats-io/transport-node'
import { tlsRefusal } from '#domain/tls-refusal'
import { firstAnswer } from '#domain/first-answer'
import type { Logger } from '#domain/telemetry'

import type { Timers } from '#domain/ports'
import type { MonotonicMs } from './timers.ts'

export interface ConnectionPorts {
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
}

export interface ConnectionSettings {
  /** One or more of `nats://[user:password@]host:port`, separated by commas; `tls://` for TLS. */
  readonly url: string
  /** PEM certificates to trust in place of the system's; with them the connection uses TLS. */
  readonly caFile?: string | undefined
  /** The name of this process in the server's own reports. */
  readonly name: string
  /** The time to wait at the start for a server that is away; see domain/first-answer.ts. */
  readonly firstAnswerMsMax?: number
}

const PING_MS = 1000
const PINGS_UNANSWERED_MAX = 2
const HANDSHAKE_MS = 2000
const RECONNECT_MS = 100
const RECONNECT_JITTER_MS = 150

/** The part of a connection that senders and listeners use. */
export interface Line {
  readonly nats: Pick<NatsConnection, 'publish' | 'subscribe'>
  readonly isConnected: boolean
  /** Calls the listener whenever the connection is back. Gives a function that stops it. */
  onReturn(listener: () => void): () => void
}

/** The connection, and whether it works at this moment. */
export class Connection implements Line {
  readonly nats: NatsConnection
  readonly #ports: ConnectionPorts
  readonly #returned = new Set<() => void>()
  #isConnected = true
  #awaySinceMs = 0

  private constructor(nats: NatsConnection, ports: ConnectionPorts) {
    this.nats = nats
    this.#ports = ports
    void this.#follow()
  }

  /**
   * Rejects with a sentence for the operator when no server answers in time, or one refuses the
   * credentials.
   */
  static async open(ports: ConnectionPorts, settings: ConnectionSettings): Promise<Connection> {
    const { timers, logger } = ports
    const options = connectionOptions(settings)
    const servers = String(options.servers)
    try {
      const nats = await firstAnswer(() => connect(options), {
        fact: 'no NATS server answers; trying again',
        mayPass: (error) => !isRefusal(error) && tlsRefusal(error) === undefined,
        reasonOf: (error) => `${servers}: ${reasonOf(error)}`,
        logger,
        after: (delayMs, callback) => timers.after(delayMs, callback),
        boundMs: settings.firstAnswerMsMax,
      })
      logger.info('connected to NATS', { server: nats.getServer(), version: nats.info?.version })
      return new Connection(nats, ports)
    } catch (error) {
      throw new Error(whyNotOpen(error, servers), { cause: error })
    }
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  /** Milliseconds since the connection was lost; 0 while it works. */
  awayMs(): number {
    return this.#isConnected ? 0 : this.#ports.monotonicMs() - this.#awaySinceMs
  }

  onReturn(listener: () => void): () => void {
    this.#returned.add(listener)
    return () => this.#returned.delete(listener)
  }

  /** Sends waiting messages and closes. */
  async close(): Promise<void> {
    this.#returned.clear()
    // Draining waits for the server: without a connection it would wait in vain.
    await (this.#isConnected ? this.nats.drain() : this.nats.close())
  }

  async #follow(): Promise<void> {
    for await (const status of this.nats.status()) this.#onStatus(status)
    this.#isConnected = false
  }

  #onStatus(status: Status): void {
    const { logger, monotonicMs } = this.#ports
    switch (status.type) {
      case 'disconnect':
        if (!this.#isConnected) return
        this.#isConnected = false
        this.#awaySinceMs = monotonicMs()
        logger.warn('the connection to NATS is lost; trying again', { server: status.server })
        return
      case 'reconnect':
        this.#isConnected = true
        logger.info('the connection to NATS is back', { server: status.server })
        for (const listener of this.#returned) listener()
        return
      case 'error':
        logger.warn('NATS reported an error', { error: reasonOf(status.error) })
        return
      case 'ldm':
        logger.info('the NATS server is about to stop', { server: status.server })
        return
      case 'close':
      case 'forceReconnect':
      case 'ping':
      case 'reconnecting':
      case 'slowConsumer':
      case 'staleConnection':
      case 'update':
        return
    }
  }
}

const isRefusal = (error: unknown): boolean => error instanceof AuthorizationError

function whyNotOpen(error: unknown, servers: string): string {
  const refusal = tlsRefusal(error)
  if (refusal !== undefined) return `there is no TLS with the NATS server at ${servers}: ${refusal}`
  return isRefusal(error)
    ? `the NATS server at ${servers} refused the credentials: ${reasonOf(error)}`
    : `no NATS server answered at ${servers}: ${reasonOf(error)}`
}

/**
 * Node compares the certificate of a server that is reached by an address with `localhost`. It is
 * compared with the addresses of the settings instead; one of them must fit.
 */
function tlsOptionsOf(urls: readonly URL[], caFile: string | undefined): object | undefined {
  if (caFile === undefined && !urls.some(({ protocol }) => protocol === 'tls:')) return undefined
  const hosts = urls.map(({ hostname }) => hostname.replace(/^\[(.*)\]$/, '$1'))
  const addresses = hosts.filter((host) => isIP(host) !== 0)
  const checkServerIdentity: typeof checkIdentity = (host, certificate) => {
    const known = host === 'localhost' && !hosts.includes(host) ? addresses : []
    const names = known.length === 0 ? [host] : known
    const errors = names.map((name) => checkIdentity(name, certificate))
    return errors.includes(undefined) ? undefined : errors[0]
  }
  return { ...(caFile !== undefined && { caFile }), checkServerIdentity }
}

/** The client takes credentials apart from addresses. (nats-connection/3) */
function connectionOptions({ url, caFile, name }: ConnectionSettings): ConnectionOptions {
  const urls = url.split(',').map((part) => new URL(part.trim()))
  const withCredentials = urls.find(({ username }) => username !== '')
  const user = decodeURIComponent(withCredentials?.username ?? '')
  const pass = decodeURIComponent(withCredentials?.password ?? '')
  const tls = tlsOptionsOf(urls, caFile)
  return {
    servers: urls.map(({ host }) => host),
    name,
    ...(user !== '' && pass !== '' && { user, pass }),
    ...(user !== '' && pass === '' && { token: user }),
    ...(tls !== undefined && { tls }),
    // Announcements of this process reach its own listeners directly.
    noEcho: true,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    reconnectJitterTLS: RECONNECT_JITTER_MS,
    pingInterval: PING_MS, // nats-connection/1
    maxPingOut: PINGS_UNANSWERED_MAX,
    timeout: HANDSHAKE_MS,
    noAsyncTraces: true,
  }
}

/** The message of an error, in one line. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)
