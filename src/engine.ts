// The engine: log, actors and store, composed in a thread of their own. SQLite never runs on the
// event loop that answers requests.

import { ActorSystem } from '#actors/system'
import type { LogStanding } from '#domain/lane'
import type { LogReader, NowMs } from '#domain/ports'
import type { RetentionLimits } from '#domain/store-ports'
import type { Log } from '#domain/telemetry'
import type { Config } from './config.ts'
import type { Link } from './link.ts'
import { serveBus } from './linked-bus.ts'
import { openStore } from './store/store.ts'
import type { Store } from './store/store.ts'
import { LocalBus } from './stream/embedded/bus.ts'
import { SoleOwner } from './stream/embedded/leases.ts'
import { EmbeddedLog } from './stream/embedded/log.ts'
import { createMetrics } from './telemetry/metrics.ts'
import type { MetricsPart } from './telemetry/metrics.ts'

/** The settings that the engine needs; none of them is a secret of the front. */
export type EngineSettings = Pick<
  Config,
  | 'databaseUrl'
  | 'lanes'
  | 'nodeId'
  | 'logLevel'
  | 'logKeepMs'
  | 'logBytesMax'
  | 'statusRetentionMs'
  | 'historyRetentionMs'
>

export interface EngineEdge {
  readonly link: Link
  readonly log: Log
  readonly nowMs: NowMs
  readonly wait: (delayMs: number) => Promise<void>
  /** Runs a task after the messages that are at hand. */
  readonly soon: (task: () => void) => void
}

/** What the front asks of the engine itself. */
export interface EngineControl {
  metrics(): Promise<MetricsPart>
  ownedLanes(): Promise<number>
  /** Applies what the log holds; sessions still get what it leads to. */
  drain(): Promise<void>
  close(): Promise<void>
}

const TURN_MAX = 512
const LIVE_ACTORS_MAX = 10_000
const CACHED_ENTITIES_MAX = 200_000
const ACTOR_IDLE_MS = 300_000
const TAIL_BYTES_MAX = 64 * 2 ** 20
const PURGE_EVERY_MS = 10_000
const RETENTION_EVERY_MS = 30_000
const RETENTION_ROWS = 500
const RETENTION_PAUSE_MS = 50
const LAG_ALLOWANCE_MS = 24 * 3_600_000

/** Starts everything and tells the front `ready`, or `failed` with a sentence for the operator. */
export async function startEngine(settings: EngineSettings, edge: EngineEdge): Promise<void> {
  const { link } = edge
  try {
    await compose(settings, edge)
    link.tell('ready', undefined)
  } catch (error) {
    link.tell('failed', error instanceof Error ? error.message : String(error))
  }
}

async function compose(settings: EngineSettings, edge: EngineEdge): Promise<void> {
  const { link, log: logger, nowMs, wait, soon } = edge
  const metrics = createMetrics({ isMain: false })
  const { meter } = metrics
  const store = await openStore({ url: settings.databaseUrl, meter })
  const log = await EmbeddedLog.open(
    { table: store.logTable, meter, logger, nowMs, soon },
    { lanes: settings.lanes, bytesMax: settings.logBytesMax, tailBytesMax: TAIL_BYTES_MAX },
  )
  await store.turns.bindLog(await standingOf(log, settings.lanes))
  const bus = new LocalBus()
  const leases = new SoleOwner(store.turns, settings.lanes)
  const system = new ActorSystem(
    { store: store.turns, log, leases, bus, meter, logger, nowMs, wait },
    {
      turnMax: TURN_MAX,
      liveMax: LIVE_ACTORS_MAX,
      entitiesMax: CACHED_ENTITIES_MAX,
      idleMs: ACTOR_IDLE_MS,
      logKeepMs: settings.logKeepMs,
      endedLifeMs: settings.historyRetentionMs.messagesAndEvents,
    },
  )
  meter.gauge('lane_lag_submissions', {}, () => Math.max(0, log.appended - system.applied))
  serveStore(store, link)
  serveBus(bus, link)
  link.serve('log', log)
  await system.start()
  const stopKeeping = keepHouse({ store, system, meter, settings, edge })
  link.serve('engine', {
    metrics: () => metrics.part(),
    ownedLanes: () => Promise.resolve(system.ownedLanes),
    drain: () => system.drain(),
    close: async () => {
      await stopKeeping()
      await system.halt()
      await store.close()
    },
  } satisfies EngineControl)
}

function serveStore(store: Store, link: Link): void {
  const { channels, devices, subscriptions, read, operations, probe } = store
  const services = { channels, devices, subscriptions, read, operations, probe }
  for (const [name, service] of Object.entries(services)) link.serve(name, service)
}

/** The log as it stands now, for the check that the database follows it. (W5) */
async function standingOf(log: LogReader, lanes: number): Promise<LogStanding> {
  const ends: number[] = []
  for (let lane = 0; lane < lanes; lane += 1) ends.push((await log.bounds(lane)).last)
  return { identity: await log.identity(), ends }
}

interface House {
  readonly store: Store
  readonly system: ActorSystem
  readonly meter: ReturnType<typeof createMetrics>['meter']
  readonly settings: EngineSettings
  readonly edge: EngineEdge
}

/** Purges the log and removes what is past its retention, in small steps, until stopped. */
function keepHouse({ store, system, meter, settings, edge }: House): () => Promise<void> {
  const { log, nowMs, wait } = edge
  const removed = meter.counter('retention_removed_total', {})
  let isStopping = false
  const retire = async (): Promise<void> => {
    for (;;) {
      const rows = await store.retention.step(limitsAt(nowMs(), settings), RETENTION_ROWS)
      removed(rows)
      if (rows === 0 || isStopping) return
      await wait(RETENTION_PAUSE_MS)
    }
  }
  const chores = [
    repeat(PURGE_EVERY_MS, () => system.purge(), log),
    repeat(RETENTION_EVERY_MS, retire, log),
  ]
  return async () => {
    isStopping = true
    await Promise.all(chores.map((stop) => stop()))
  }
}

/** Runs a chore again and again, never twice at once. Gives the way to stop, which waits for it. */
function repeat(everyMs: number, chore: () => Promise<void>, log: Log): () => Promise<void> {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= chore()
      .catch((error: unknown) => log.warn('a chore failed', { error: String(error) }))
      .finally(() => {
        running = undefined
      })
  }, everyMs)
  return async () => {
    clearInterval(timer)
    await running
  }
}

function limitsAt(now: number, settings: EngineSettings): RetentionLimits {
  const { messagesAndEvents, thingUpdates } = settings.historyRetentionMs
  return {
    operations: now - settings.statusRetentionMs,
    messagesAndEvents: now - messagesAndEvents,
    thingUpdates: now - thingUpdates,
    // A turn that lags must still find what its submissions are too young to forget. (W3)
    tombstones: now - messagesAndEvents - LAG_ALLOWANCE_MS,
  }
}
