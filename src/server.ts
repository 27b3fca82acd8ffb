// The composition root: makes every stage, hands each its ports, starts the last first.
//
//   front thread:  ingress ─▶ acceptor ─┐             ┌─▶ sessions ─▶ devices
//                                       │ link        │ link
//   engine thread:                      └─▶ log ─▶ actors ─▶ store

import { Worker } from 'node:worker_threads'

import packageJson from '#package' with { type: 'json' }

import type { LogWriter, NowMs, Probe } from '#domain/ports'
import type {
  ChannelStore,
  DeviceStore,
  OperationStore,
  ReadStore,
  SubscriptionStore,
} from '#domain/store-ports'
import type { Log } from '#domain/telemetry'
import type { Config } from './config.ts'
import type { EngineControl, EngineSettings } from './engine.ts'
import { createIngress } from './ingress/ingress.ts'
import type { IngressOptions } from './ingress/ingress.ts'
import { Link } from './link.ts'
import { linkedBus } from './linked-bus.ts'
import { Acceptor } from './stream/acceptor.ts'
import { profileOf } from './profile.ts'
import { LocalBus } from './stream/embedded/bus.ts'
import { createMetrics, metricsText } from './telemetry/metrics.ts'
import { createSessions } from './transports/sessions.ts'
import { mountWss } from './transports/wss.ts'

export interface ServerEdge {
  readonly log: Log
  readonly nowMs: NowMs
  /** A whole number from 0 up to, without, `below`. */
  readonly random: (below: number) => number
  /** The server cannot go on, and what it accepted is safe in the log. */
  readonly onFailure: (reason: string) => void
}

export interface Server {
  readonly port: number
  /** No new requests, lanes flushed, turns finished, goaway sent, everything closed. */
  stop(): Promise<void>
}

const LANE_BYTES_MAX = 8 * 2 ** 20
const CHANNEL_IN_FLIGHT_MAX = 4096
const UNAPPLIED_MAX = 500_000
const YOUNG_GENERATION_MB = 64
const VERSION = packageJson.version

/** Starts everything. Rejects with a sentence for the operator when something cannot start. */
export async function startServer(config: Config, edge: ServerEdge): Promise<Server> {
  const { log } = edge
  const engine = await startEngineThread(config, edge)
  try {
    const front = composeFront(config, edge, engine.link)
    const port = await front.listen()
    log.info('listening', { host: config.http.host, port, durability: DURABILITY })
    return { port, stop: () => stopAll(front, engine) }
  } catch (error) {
    await engine.stop()
    throw error
  }
}

interface Engine {
  readonly link: Link
  readonly control: EngineControl
  /** Closes the store and ends the thread. */
  readonly stop: () => Promise<void>
}

async function startEngineThread(config: Config, { log, onFailure }: ServerEdge): Promise<Engine> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: settingsOf(config),
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const link = new Link(worker)
  let isStopping = false
  const ready = Promise.withResolvers<void>()
  link.onTell('ready', () => ready.resolve())
  link.onTell('failed', (reason) => ready.reject(new Error(String(reason))))
  const fail = (error: Error): void => {
    link.break(error)
    ready.reject(error)
    if (!isStopping) onFailure(`the engine failed: ${error.message}`)
  }
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the engine's thread ended with code ${code}`)))
  const control = link.remote<EngineControl>('engine')
  const stop = async (): Promise<void> => {
    isStopping = true
    await worker.terminate()
  }
  await ready.promise.catch(async (error: unknown) => {
    await stop()
    throw error
  })
  log.debug('the engine is ready')
  return {
    link,
    control,
    stop: async () => {
      isStopping = true
      await control.close()
      await worker.terminate()
    },
  }
}

function settingsOf(config: Config): EngineSettings {
  return {
    databaseUrl: config.databaseUrl,
    lanes: config.lanes,
    nodeId: config.nodeId,
    logLevel: config.logLevel,
    logKeepMs: config.logKeepMs,
    logBytesMax: config.logBytesMax,
    statusRetentionMs: config.statusRetentionMs,
    historyRetentionMs: config.historyRetentionMs,
  }
}

type Front = ReturnType<typeof composeFront>

const DURABILITY = 'embedded: fsync before each answer'

function composeFront(config: Config, edge: ServerEdge, link: Link) {
  const { log, nowMs, random } = edge
  const metrics = createMetrics({ isMain: true })
  const { meter } = metrics
  const bus = linkedBus(new LocalBus(), link)
  const acceptor = new Acceptor(
    { log: link.remote<LogWriter>('log'), bus, meter, soon: setImmediate },
    {
      lanes: config.lanes,
      laneBytesMax: LANE_BYTES_MAX,
      channelInFlightMax: CHANNEL_IN_FLIGHT_MAX,
      unappliedMax: UNAPPLIED_MAX,
    },
  )
  const stores = {
    channels: link.remote<ChannelStore>('channels'),
    devices: link.remote<DeviceStore>('devices'),
    subscriptions: link.remote<SubscriptionStore>('subscriptions'),
    read: link.remote<ReadStore>('read'),
    operations: link.remote<OperationStore>('operations'),
  }
  const engine = link.remote<EngineControl>('engine')
  let boundPort = config.http.port
  const shared = { bus, meter, log, nowMs, timers }
  const ingress = createIngress(
    {
      ...shared,
      ...stores,
      sink: acceptor,
      probes: [link.remote<Probe>('probe'), lanesProbe(engine, config.lanes)],
      metricsText: async () => metricsText([await metrics.part(), await engine.metrics()]),
      profile: () => profileOf(config, boundPort, VERSION),
      durability: () => DURABILITY,
    },
    ingressOptions(config),
  )
  const sessions = createSessions(
    { ...shared, ...stores, feed: stores.read, random },
    { token: config.token, budget: ingress.budget },
  )
  if (config.privateTransports.wss) {
    mountWss(ingress.http.app, sessions, ingress)
  }
  const listen = async (): Promise<number> => (boundPort = await ingress.listen())
  return { ingress, acceptor, sessions, listen }
}

function ingressOptions(config: Config): IngressOptions {
  const { http, tls, token, trustedProxies, passwordBudget, statusRetentionMs } = config
  return { http, tls, token, trustedProxies, passwordBudget, statusRetentionMs, version: VERSION }
}

/** Every lane is applied here, or readiness says how many are not. */
function lanesProbe(engine: EngineControl, lanes: number): Probe {
  return {
    readiness: async () => {
      const owned = await engine.ownedLanes()
      return { name: 'lanes', ready: owned === lanes, detail: `${owned} of ${lanes} owned` }
    },
  }
}

/**
 * First to last, so that what is inside can leave; sessions after the turns, the store at the end.
 */
async function stopAll({ ingress, acceptor, sessions }: Front, engine: Engine): Promise<void> {
  await ingress.drain()
  await acceptor.drain()
  await engine.control.drain()
  await sessions.drain()
  await sessions.close()
  ingress.close()
  await engine.stop()
}

const timers = {
  after(delayMs: number, callback: () => void): () => void {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
