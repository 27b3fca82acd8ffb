// Two devices of the demo that the gateway reaches by push. Stand-ins for Apple's and Google's
// services run in this process, and the demo shows the pushes that they take.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import type { Client } from '#src/client/client'
import { onOneLine } from '#src/cli/terminal-text'
import type { Credentials } from '#src/cli/access'
import { startPushServers } from '#src/dev/servers/push/push-servers'
import type { PushServers } from '#src/dev/servers/push/push-servers'

const RECENT_MAX = 50
/** Shorter than the minute of other gateways: the demo's Things change every second. */
const THING_INTERVAL = '5s'
const DEVICES = [
  { platform: 'ios', channel_type: 'apns', provider_token: 'ab'.repeat(32) },
  { platform: 'android', channel_type: 'fcm', provider_token: 'a-token-of-the-demo' },
] as const

/** A push that a stand-in has taken. */
export interface TakenPush {
  readonly service: 'apns' | 'fcm'
  readonly title: string
  readonly body: string
  readonly severity: string
  readonly deliveryId: string
  readonly atMs: number
}

export class PushAudience {
  /** Settings with which the demo's gateway sends its pushes here. */
  readonly env: Readonly<Record<string, string>>
  readonly #servers: PushServers
  readonly #folder: string
  readonly #recent: TakenPush[] = []
  readonly #counts = { apns: 0, fcm: 0 }
  #listener: (push: TakenPush) => void = () => {}

  private constructor(servers: PushServers, folder: string, nowMs: () => number) {
    this.#servers = servers
    this.#folder = folder
    this.env = { ...servers.env, SERVICE_THING_PUSH_INTERVAL: THING_INTERVAL }
    servers.apns.taken = ({ payload }) => this.#take('apns', payload, nowMs())
    servers.fcm.taken = ({ data }) => this.#take('fcm', data, nowMs())
  }

  static async start(temporaryFolder: string, nowMs: () => number): Promise<PushAudience> {
    const folder = mkdtempSync(join(temporaryFolder, 'heliograph-demo-push-'))
    return new PushAudience(await startPushServers(folder, { nowMs }), folder, nowMs)
  }

  /** Registers the two devices and subscribes them. */
  async join(client: Client, credentials: Credentials): Promise<void> {
    for (const { platform, ...route } of DEVICES) {
      const { device_key } = await client.device.register({ platform })
      await client.device.setRoute({ device_key, ...route })
      await client.channel.subscribe({ ...credentials, device_key })
    }
  }

  onPush(listener: (push: TakenPush) => void): void {
    this.#listener = listener
  }

  /** The newest last. */
  get recent(): readonly TakenPush[] {
    return this.#recent
  }

  get counts(): Readonly<Record<TakenPush['service'], number>> {
    return this.#counts
  }

  async close(): Promise<void> {
    await this.#servers.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #take(service: TakenPush['service'], fields: object, atMs: number): void {
    const textOf = (name: string): string => onOneLine(String(Reflect.get(fields, name) ?? ''))
    const push = {
      service,
      title: textOf('title'),
      body: textOf('body'),
      severity: textOf('severity'),
      deliveryId: textOf('delivery_id'),
      atMs,
    }
    this.#counts[service] += 1
    this.#recent.push(push)
    if (this.#recent.length > RECENT_MAX) this.#recent.shift()
    this.#listener(push)
  }
}

const SERVICE = { apns: 'Apple ', fcm: 'Google' } as const

export const pushLine = (
  { service, title, body, severity, atMs }: TakenPush,
  clock: (ms: number) => string,
): string => `${clock(atMs)}  push ${SERVICE[service]}  ${title}: ${body} (${severity})`

/** The push as one line of JSON. */
export const pushJson = ({ service, deliveryId, atMs, ...rest }: TakenPush): string =>
  JSON.stringify({ push: service, at: atMs, delivery_id: deliveryId, ...rest })

/** A line that counts the pushes of each service. */
export const pushCount = ({ apns, fcm }: Readonly<Record<TakenPush['service'], number>>): string =>
  `pushes: Apple ${apns}, Google ${fcm}`
