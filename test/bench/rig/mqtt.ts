// Publishers and idle clients of MQTT, and the servers that they connect to: the product, a bare
// server (D11), and mosquitto.

import { fileURLToPath } from 'node:url'

import { startMosquitto } from '#test/support/mosquitto'
import { reservePort } from '#src/dev/servers/port'
import { keysOf } from './channel-keys.ts'
import { startGateway } from './gateway.ts'
import { prepareKeyed } from './keyed.ts'
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

  /** The product, with a channel of its own for each client. */
  static async product(directory: string, clients: number): Promise<Publishing> {
    const token = await prepareKeyed(directory, { channels: clients })
    const { server, mqttPort, stop } = await openMqttGateway(directory, token)
    const applied = (acknowledged: number): Promise<void> => untilEnded(server, token, acknowledged)
    return Publishing.#of(mqttPort, keysOf(clients), { applied, end: stop })
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
