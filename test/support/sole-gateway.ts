// A whole sole gateway below its sockets, in the thread of the test: acceptance, acceptor, log,
// actors, store and sessions over SQLite files, joined by wires in memory. Time passes when the test turns it.

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import type { Bus } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import { configFrom } from '#src/config/config'
import type { Env } from '#src/config/config'
import type { Backend } from '#src/runtime/backend'
import { composeStages } from '#src/runtime/stages'
import { startEmbedded } from '#src/runtime/standalone/backend'
import type { Acceptor } from '#src/stream/acceptor'
import { memoryThreads } from '#test/support/memory-threads'
import type { Threads } from '#src/runtime/threads/threads'
import type { Sessions } from '#src/transports/sessions'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import type { HandTurnedRuntime } from '#test/support/hand-turned-runtime'
import type { MemoryDevice } from '#test/support/memory-device'
import { emptyFile } from '#test/support/sqlite-store'

export interface SoleGateway {
  readonly runtime: HandTurnedRuntime
  readonly backend: Backend
  readonly sink: Acceptor
  readonly acceptance: Acceptance
  readonly sessions: Sessions
  readonly logger: FakeLogger
  /** The reasons for which the gateway could not go on. */
  readonly failures: readonly string[]
  /** Stops like a process: applies accepted submissions and tells the devices to come back. */
  stop(): Promise<void>
}

export interface SoleGatewayOptions {
  readonly env?: Env
  readonly path?: string
  /** The bus as sessions hear it. */
  readonly busOf?: (bus: Bus) => Bus
  /** The threads as the gateway starts them. */
  readonly threadsOf?: (threads: Threads) => Threads
}

/** Starts over a database of its own, or over the one at `path`. Settings are those of `Config`. */
export async function startSoleGateway(
  t: ExecutionContext,
  runtime: HandTurnedRuntime,
  {
    env = {},
    path,
    busOf = (bus) => bus,
    threadsOf = (threads) => threads,
  }: SoleGatewayOptions = {},
): Promise<SoleGateway> {
  const logger = new FakeLogger()
  const failures: string[] = []
  const databaseUrl = `sqlite:${path ?? (await emptyFile(t))}`
  const ports = { SERVICE_HTTP_ADDR: '127.0.0.1:0' } // Other tests, and other programs, bind ports too.
  const config = configFrom({ ...ports, ...env, SERVICE_DATABASE_URL: databaseUrl }, runtime)
  const edge = {
    runtime,
    logger,
    meter: new FakeMeter(),
    threads: threadsOf(memoryThreads({ runtime, logger })),
    onFailure: (reason: string) => void failures.push(reason),
  }
  const backend = await runtime.until(startEmbedded(config, edge))
  await runtime.until(backend.start('127.0.0.1:8080'))
  const heard = { ...backend, bus: busOf(backend.bus) }
  const stages = composeStages(config, edge, { backend: heard, callers: () => 1 })
  const { acceptor: sink, acceptance, sessions } = stages
  const steps = [
    () => sink.drain(),
    () => backend.drain(),
    () => sessions.close(),
    async () => acceptance.close(),
    () => backend.close(),
  ]
  const stop = async (): Promise<void> => {
    for (const step of steps.splice(0)) await runtime.until(step())
  }
  t.teardown(stop)
  return { runtime, backend, sink, acceptance, sessions, logger, failures, stop }
}

/** Makes a channel to which these devices are subscribed. */
export async function addChannel(
  { backend, runtime }: SoleGateway,
  channelId: ChannelId,
  devices: readonly MemoryDevice[],
): Promise<void> {
  const now = runtime.nowMs()
  const { channels, devices: known, subscriptions } = backend.stores
  const credentials = { passwordHash: 'not a password', createdAt: now }
  await runtime.until(channels.create({ channelId, channelName: 'a channel', ...credentials }))
  for (const { deviceId } of devices) {
    await runtime.until(known.create(deviceId, 'linux', now))
    await runtime.until(subscriptions.subscribe(deviceId, channelId, now))
  }
}

/** The value of a metric of the other threads, over all its labels. */
export async function metricOf({ backend, runtime }: SoleGateway, name: string): Promise<number> {
  const parts = await runtime.until(backend.metrics())
  const found = parts.flat().filter((metric) => metric.name === `heliograph_${name}`)
  return found.flatMap(({ values }) => values).reduce((sum, { value }) => sum + value, 0)
}
