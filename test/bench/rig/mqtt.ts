// Publishers and idle clients of MQTT, and the servers that they connect to: the product, a bare
// server (D11), and mosquitto.

import { cp } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { startMosquitto } from '#src/dev/servers/mosquitto'
import { reservePort } from '#src/dev/servers/port'
import { Caller, PASSWORD, textOf } from './caller.ts'
import type { Prepared } from './caller.ts'
import { startGateway } from './gateway.ts'
import { MqttClients } from './load-process.ts'
import { CountsDiffer } from './rig.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { operationsEnded } from './subject.ts'

const BARE = fileURLToPath(new URL('../denominators/bare-mqtt.ts', import.meta.url))
const APPLIED_WITHIN_MS = 60_000
/** Publishes of one client that are under way: its Receive Maximum. */
const UNDER_WAY = 20

/** A gateway with a listener for MQTT. */
export interface MqttGateway {
  readonly server: Server
  readonly mqttPort: number
  readonly stop: () => Promise<void>
}

/** The product with a listener for MQTT, on a copy of a database. */
export async function startMqttGateway(
  { directory, token }: Pick<Prepared, 'directory' | 'token'>,
  copy: string,
): Promise<MqttGateway> {
  await cp(directory, copy, { recursive: true })
  return openMqttGateway(copy, token)
}

/** The product with a listener for MQTT, in a folder. */
export async function openMqttGateway(directory: string, token: string): Promise<MqttGateway> {
  const { port: mqttPort, release } = await reservePort()
  const settings = { SERVICE_MQTT_ADDR: `127.0.0.1:${mqttPort}` }
  const server = await startGateway(directory, token, settings)
  const stop = async (): Promise<void> => {
    await server.stop()
    await release()
  }
  return { server, mqttPort, stop }
}

/** A key of each of the first channels. */
export async function keysOf(
  { server }: Pick<MqttGateway, 'server'>,
  { token, channels }: Pick<Prepared, 'token' | 'channels'>,
  count: number,
): Promise<readonly string[]> {
  const caller = new Caller(server, token)
  const keys: string[] = []
  for (const channel_id of channels.slice(0, count)) {
    const made = await caller.post('/channel/key', { channel_id, password: PASSWORD })
    keys.push(textOf(made, 'key'))
  }
  return keys
}

/** Resolves once so many operations ended, no more and no fewer. */
export async function untilEnded(server: Server, token: string, wanted: number): Promise<void> {
  const until = performance.now() + APPLIED_WITHIN_MS
  for (;;) {
    const ended = await operationsEnded([server], token)
    if (ended === wanted) return
    if (performance.now() > until) {
      throw new CountsDiffer(`${wanted} were acknowledged, ${ended} ended`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Clients that publish to one server as fast as it acknowledges. */
export class Publishing {
  readonly #clients: MqttClients
  /** Checks that so many publishes had their effect. */
  readonly #applied: (acknowledged: number) => Promise<void>
  readonly #end: () => Promise<void>
  #acknowledged = 0

  private constructor(
    clients: MqttClients,
    applied: (acknowledged: number) => Promise<void>,
    end: () => Promise<void>,
  ) {
    this.#clients = clients
    this.#applied = applied
    this.#end = end
  }

  static async product(prepared: Prepared, copy: string, clients: number): Promise<Publishing> {
    const gateway = await startMqttGateway(prepared, copy)
    const userNames = await keysOf(gateway, prepared, clients)
    const { server } = gateway
    const before = await operationsEnded([server], prepared.token)
    const applied = (acknowledged: number): Promise<void> =>
      untilEnded(server, prepared.token, before + acknowledged)
    return Publishing.#of(gateway.mqttPort, userNames, { applied, end: gateway.stop })
  }

  /** D11 */
  static async bare(clients: number): Promise<Publishing> {
    const server = await startServer(BARE, {})
    return Publishing.#of(server.port, nobody(clients), { end: () => server.stop() })
  }

  /** Mosquitto with persistence; undefined where it cannot be had. */
  static async mosquitto(clients: number): Promise<Publishing | undefined> {
    const started = await startMosquitto(process.env)
    if (started.kind === 'missing') return undefined
    const { servers } = started
    return Publishing.#of(servers.port, nobody(clients), { end: () => servers.stop() })
  }

  static async #of(
    port: number,
    userNames: readonly string[],
    {
      applied = () => Promise.resolve(),
      end,
    }: {
      readonly applied?: (acknowledged: number) => Promise<void>
      readonly end: () => Promise<void>
    },
  ): Promise<Publishing> {
    const clients = new MqttClients()
    await clients.connect(port, userNames, userNames.length)
    return new Publishing(clients, applied, end)
  }

  /** Acknowledgements a second. Throws when one of them had no effect. */
  async rate(durationMs: number): Promise<number> {
    const order = { durationMs, underWay: UNDER_WAY }
    const { perSecond, acknowledged } = await this.#clients.publish(order)
    this.#acknowledged += acknowledged
    await this.#applied(this.#acknowledged)
    return perSecond
  }

  async stop(): Promise<void> {
    await this.#clients.stop()
    await this.#end()
  }
}

const nobody = (clients: number): readonly string[] =>
  Array.from({ length: clients }, () => 'bench')
