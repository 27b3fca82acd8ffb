// Reports readiness and durability of the stream: its replicas, and when the server syncs its
// files.

import type { Probe, Readiness } from '#domain/ports'

import { recordOf } from '#domain/record'
import { reasonOf } from './connection.ts'
import type { Connection } from './connection.ts'
import type { LaneStream } from './lane-stream.ts'

export interface StreamProbeOptions {
  /** The address of the server's monitoring; by default port 8222 of the connected server. */
  readonly monitorUrl?: string
}

const MONITOR_PORT = 8222
const MONITOR_TIMEOUT_MS = 500
const NANOS_IN_SECOND = 1e9
/** The minor version 2.x that made the interval a setting; earlier servers have a fixed one. */
const SYNC_SETTING_SINCE_MINOR = 10
const FIXED_SYNC = 'every 120 s'

export class StreamProbe implements Probe {
  readonly #connection: Connection
  readonly #stream: LaneStream
  readonly #options: StreamProbeOptions
  #sync: { readonly serverId: string; readonly mode: string } | undefined

  constructor(connection: Connection, stream: LaneStream, options: StreamProbeOptions = {}) {
    this.#connection = connection
    this.#stream = stream
    this.#options = options
  }

  async readiness(): Promise<Readiness> {
    const name = 'stream'
    const { isConnected } = this.#connection
    if (!isConnected) return { name, ready: false, detail: 'not connected to NATS' }
    try {
      const detail = await this.durability()
      const { mismatch } = this.#stream
      return { name, ready: mismatch === undefined, detail: mismatch?.message ?? detail }
    } catch (error) {
      return { name, ready: false, detail: `the stream does not answer: ${reasonOf(error)}` }
    }
  }

  /**
   * Returns a sentence with the replicas and the sync mode in force. Rejects while the stream does
   * not answer.
   */
  async durability(): Promise<string> {
    const { config } = await this.#stream.verify()
    const sync = await this.#syncMode()
    return `stream: ${config.num_replicas} replica(s), file sync ${sync}`
  }

  /** Asks a server until it answers once: its setting cannot change while it runs. */
  async #syncMode(): Promise<string> {
    const { info } = this.#connection.nats
    if (info === undefined) return UNKNOWN
    if (this.#sync?.serverId === info.server_id) return this.#sync.mode
    const mode = isBeforeSetting(info.version) ? FIXED_SYNC : await this.#askServer(info.server_id)
    if (mode !== UNKNOWN) this.#sync = { serverId: info.server_id, mode }
    return mode
  }

  async #askServer(serverId: string): Promise<string> {
    const [host = ''] = this.#connection.nats.getServer().split(':')
    const base = this.#options.monitorUrl ?? `http://${host}:${MONITOR_PORT}`
    try {
      const response = await fetch(`${base}/varz`, {
        signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS),
      })
      return syncModeFrom(await response.json(), serverId)
    } catch {
      // The server has no monitoring port, or this process cannot reach it.
      return UNKNOWN
    }
  }
}

const UNKNOWN = 'unknown'

const isBeforeSetting = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major === 2 && minor < SYNC_SETTING_SINCE_MINOR
}

/** Reads the sync mode from /varz; `unknown` when another server answered. */
export function syncModeFrom(report: unknown, serverId: string): string {
  const server = recordOf(report)
  const config = recordOf(recordOf(server?.['jetstream'])?.['config'])
  if (server?.['server_id'] !== serverId || config === undefined) return UNKNOWN
  if (config['sync_always'] === true) return 'always'
  const interval = config['sync_interval']
  return typeof interval === 'number' ? `every ${interval / NANOS_IN_SECOND} s` : UNKNOWN
}
