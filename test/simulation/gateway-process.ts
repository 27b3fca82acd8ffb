// One process of a gateway: the product's own composition below its sockets, with a runtime, a
// network and servers that the world controls.

import { createHash } from 'node:crypto'

import type { Logger } from '#domain/telemetry'
import { configFrom } from '#src/config/config'
import type { Backend, BackendEdge } from '#src/runtime/backend'
import { startCluster } from '#src/runtime/cluster/backend'
import type { MqttDoor } from '#src/mqtt/door'
import { composeMqtt } from '#src/runtime/mqtt-doors'
import { composeStages } from '#src/runtime/stages'
import type { StageEdge, Stages } from '#src/runtime/stages'
import { startEmbedded } from '#src/runtime/standalone/backend'
import type { Servers } from '#src/runtime/threads/servers'
import { memoryThreads } from '#test/support/memory-threads'
import { FakeMeter } from '#test/support/fake-telemetry'
import type { VirtualRuntime } from './virtual-runtime.ts'

export interface ProcessParts {
  readonly name: string
  readonly runtime: VirtualRuntime
  readonly servers: Servers
  readonly logger: Logger
  readonly lanes: number
  /** Seconds for which the log keeps what is applied. */
  readonly logKeepS: number
  readonly isCluster: boolean
  /** True where pushes have a provider. */
  readonly hasPushes: boolean
  /** Called when the process has ended by itself: it gave up, or could not start. */
  readonly onEnd: (reason: string) => void
}

const settingsOf = ({ name, lanes, logKeepS, isCluster }: ProcessParts) => ({
  SERVICE_NODE_ID: name,
  SERVICE_LANES: String(lanes),
  SERVICE_LOG_LEVEL: 'silent',
  SERVICE_LOG_KEEP: `${logKeepS}s`,
  ...(isCluster
    ? {
        SERVICE_DATABASE_URL: 'mysql://simulated:simulated@database:3306/simulated',
        SERVICE_NATS_URL: 'nats://nats:4222',
      }
    : {}),
})

/** A key that costs nothing: scrypt would take real time, on threads of its own. */
const derive: NonNullable<StageEdge['derive']> = (password, salt) =>
  Promise.resolve(createHash('sha256').update(password).update(salt).digest())

/** Google's, without its file: `Servers` opens it. */
const PUSHES = { fcm: { credentialsFile: '' } }

export class GatewayProcess {
  readonly parts: ProcessParts
  readonly meter = new FakeMeter()
  #stages: Stages | undefined
  #mqtt: MqttDoor | undefined
  #backend: Backend | undefined
  #isOpen = false

  constructor(parts: ProcessParts) {
    this.parts = parts
  }

  /** Its stages once it takes requests; undefined before, and when it stops. */
  get stages(): Stages | undefined {
    return this.#isOpen && this.parts.runtime.owner.state === 'running' ? this.#stages : undefined
  }

  /** Its sessions of MQTT clients, as long as it has `stages`. */
  get mqtt(): MqttDoor | undefined {
    return this.stages && this.#mqtt
  }

  /** What its gauges say, over all labels and threads; nothing for one that ends meanwhile. */
  async figures(): Promise<ReadonlyMap<string, number>> {
    const figures = new Map<string, number>()
    const add = (name: string, value: number): void =>
      void figures.set(name, (figures.get(name) ?? 0) + value)
    const parts = (await this.#backend?.metrics().catch(() => undefined)) ?? []
    for (const [key, read] of this.meter.gauges) add(key.replace(/\{.*/, ''), read())
    for (const { name, type, values } of parts.flat()) {
      if (type !== 'gauge') continue
      for (const { value } of values) add(name.replace('heliograph_', ''), value)
    }
    return figures
  }

  async start(): Promise<void> {
    const { parts, meter } = this
    const { runtime, servers, logger, isCluster, hasPushes, onEnd } = parts
    const read = configFrom(settingsOf(parts), runtime)
    const settings = hasPushes ? { ...read, providers: PUSHES } : read
    // No file has this name: it is neither locked nor looked for.
    const config = isCluster ? settings : { ...settings, databaseUrl: 'sqlite::memory:' }
    const edge: BackendEdge & StageEdge = {
      runtime,
      logger,
      meter,
      servers,
      derive,
      threads: memoryThreads({ runtime, logger, servers }),
      onFailure: onEnd,
    }
    try {
      const backend = await (isCluster ? startCluster : startEmbedded)(config, edge)
      this.#backend = backend
      this.#stages = composeStages(config, edge, { backend, callers: () => 100 })
      const { acceptance } = this.#stages
      const isOpen = (): boolean => this.#isOpen
      this.#mqtt = composeMqtt(config, edge, { backend, acceptance, isOpen })
      await backend.start(`${parts.name}:8080`)
      this.#isOpen = true
    } catch (error) {
      onEnd(error instanceof Error ? error.message : 'it could not start')
    }
  }

  /** Stops as a supervisor asks it to: in the order of the gateway's own stop. */
  async stop(): Promise<void> {
    await this.#stop().catch(() => undefined)
    this.parts.onEnd('stopped')
  }

  async #stop(): Promise<void> {
    const stages = this.#stages
    const backend = this.#backend
    this.#isOpen = false
    if (stages === undefined || backend === undefined) return
    await this.#mqtt?.drain()
    await stages.acceptor.drain()
    await backend.drain()
    await stages.sessions.close()
    this.#mqtt?.close()
    stages.acceptance.close()
    await stages.acceptor.applied(3_000)
    await backend.close()
  }
}
