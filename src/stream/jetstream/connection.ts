// The one connection to NATS that everything in this folder shares. It reconnects without a limit.
//
// Invariants:
//   nats-connection/1. The client replaces a connection that does not answer within PING_MS ×
//     PINGS_UNANSWERED_MAX.
//   nats-connection/2. Senders check `isConnected` first: a disconnected client would buffer what
//     it cannot send, without a bound.
//   nats-connection/3. Log lines show addresses without the credentials before their @.

import { isIP } from 'node:net'
import { checkServerIdentity as checkIdentity } from 'node:tls'

import { AuthorizationError, connect as connectByNetwork } from '@nats-io/transport-node'
import type { ConnectionOptions, NatsConnection, Status } from '@nats-io/transport-node'
import { tlsRefusal } from '#domain/tls-refusal'
import { firstAnswer } from '#domain/first-answer'
import type { Logger, Meter } from '#domain/telemetry'

import type { Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { MonotonicMs } from './timers.ts'

export interface ConnectionPorts {
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
}

/** What everything over a connection is handed. */
export interface NatsPorts extends ConnectionPorts {
  readonly connection: Connection
  readonly meter: Meter
  readonly entropy: Runtime['entropy']
}

/** Connects a client to one of the servers in its options. */
export type Connect = (options: ConnectionOptions) => Promise<NatsConnection>

export interface ConnectionSettings {
  /** One or more `nats://[user:password@]host:port`, separated by commas; `tls://` for TLS. */
  readonly url: string
  /** PEM certificates to trust in place of the system's. When set, the connection uses TLS. */
  readonly caFile?: string | undefined
  /** The name of this process in the server's own reports. */
  readonly name: string
  /** By default over the network. */
  readonly connect?: Connect
  /** The time to wait at the start for a server to answer; see domain/first-answer.ts. */
  readonly firstAnswerMsMax?: number
}

const PING_MS = 1000
const PINGS_UNANSWERED_MAX = 2
const HANDSHAKE_MS = 2000
const RECONNECT_MS = 100
const RECONNECT_JITTER_MS = 150

/** The part of a connection that senders and subscribers use. */
export interface NatsLink {
  readonly nats: Pick<NatsConnection, 'publish' | 'subscribe'>
  readonly isConnected: boolean
  /** Calls the listener after each reconnection. Gives a function that removes the listener. */
  onReconnect(listener: () => void): () => void
}

/** The connection, and whether it works at this moment. */
export class Connection implements NatsLink {
  readonly nats: NatsConnection
  readonly #ports: ConnectionPorts
  readonly #reconnectListeners = new Set<() => void>()
  #isConnected = true
  #disconnectedSinceMs = 0

  private constructor(nats: NatsConnection, ports: ConnectionPorts) {
    this.nats = nats
    this.#ports = ports
    void this.#follow()
  }

  /**
   * Connects to one of the servers. Rejects with a sentence for the operator when no server answers
   * in time, or when one refuses the credentials.
   */
  static async open(ports: ConnectionPorts, settings: ConnectionSettings): Promise<Connection> {
    const { timers, logger } = ports
    const { connect = connectByNetwork } = settings
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

  /** Returns the milliseconds since the connection was lost; 0 while it works. */
  disconnectedMs(): number {
    return this.#isConnected ? 0 : this.#ports.monotonicMs() - this.#disconnectedSinceMs
  }

  onReconnect(listener: () => void): () => void {
    this.#reconnectListeners.add(listener)
    return () => this.#reconnectListeners.delete(listener)
  }

  /** Sends buffered messages, then closes. */
  async close(): Promise<void> {
    this.#reconnectListeners.clear()
    // `drain` waits for the server, so without a connection it would not end.
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
        this.#disconnectedSinceMs = monotonicMs()
        logger.warn('lost the connection to NATS; reconnecting', { server: status.server })
        return
      case 'reconnect':
        this.#isConnected = true
        logger.info('reconnected to NATS', { server: status.server })
        for (const listener of this.#reconnectListeners) listener()
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
 * Node passes `localhost` as the host of a server whose setting is an IP address. The certificate
 * must then match one of the IP addresses in the settings instead.
 */
function tlsOptionsOf(urls: readonly URL[], caFile: string | undefined): object | undefined {
  if (caFile === undefined && !urls.some(({ protocol }) => protocol === 'tls:')) return undefined
  const hosts = urls.map(({ hostname }) => hostname.replace(/^\[(.*)\]$/, '$1'))
  const addresses = hosts.filter((host) => isIP(host) !== 0)
  const checkServerIdentity: typeof checkIdentity = (host, certificate) => {
    const expected = host === 'localhost' && !hosts.includes(host) ? addresses : []
    const names = expected.length === 0 ? [host] : expected
    const errors = names.map((name) => checkIdentity(name, certificate))
    return errors.includes(undefined) ? undefined : errors[0]
  }
  return { ...(caFile !== undefined && { caFile }), checkServerIdentity }
}

/** The client gets the credentials separately from the addresses. (nats-connection/3) */
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
    // The bus gives this process's announcements to its own listeners directly.
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

/** Returns the message of an error, or its name when it has none. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error)
