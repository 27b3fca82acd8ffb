// Makes the actors of a process, and runs the maintenance beside them: it purges the log, joins
// blocks of updates and removes old rows, in small steps.

import { hash } from 'node:crypto'

import { ActorSystem } from '#actors/system'
import type { SystemPorts } from '#actors/options'
import type { Bus, LogWriter } from '#domain/ports'
import type { PushStore } from '#domain/push'
import type { JoiningStore, MergingStore, RetentionStore } from '#domain/retention-ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { Runtime } from '#domain/runtime'
import { encodeBatch, encodeSubmission } from '#src/schemas/batch'
import type { ThreadSettings } from '#src/runtime/threads/contract'
import type { ThreadEdge } from '#src/runtime/threads/threads'
import { removeExpired, ClockLead } from './removal.ts'

/**
 * The most submissions in one turn. A gateway that is behind takes large turns, which cost less per
 * submission.
 */
const TURN_MAX = 2_048
/** Each takes 1.4 KB beside what it remembers. */
const LIVE_ACTORS_MAX = 20_000
/**
 * Bytes of entities and rules that all actors remember: the heap takes as much again at times. Ten
 * rules in each of 1,000 channels take 10 MB, and 10,000 Things that they watch 16.
 */
const CACHED_BYTES_MAX = 64 * 2 ** 20
/** Bytes of Things that an actor remembers, and as many of Events and of watches. */
const REMEMBERED_BYTES_MAX = CACHED_BYTES_MAX / 4
const ACTOR_IDLE_MS = 300_000
const PURGE_EVERY_MS = 10_000
/** A deadline is at most so late on an idle gateway, and by its turn. (R8) */
const DEADLINES_EVERY_MS = 250
/** One lane each time. */
const COUNT_EVERY_MS = 1_000
const RETENTION_EVERY_MS = 30_000
/** At full speed some 10,000 updates come in this time. */
const JOIN_EVERY_MS = 500
const MERGE_EVERY_MS = 2_000

/** Makes the actors, with the limits of this program; does not start them. */
export function makeSystem(
  { append, ...ports }: Omit<SystemPorts, 'appendTick'> & Pick<LogWriter, 'append'>,
  settings: ThreadSettings,
): ActorSystem {
  return new ActorSystem(
    { ...ports, appendTick: tickOf(append) },
    {
      turnMax: TURN_MAX,
      liveMax: LIVE_ACTORS_MAX,
      cachedBytesMax: CACHED_BYTES_MAX,
      idleMs: ACTOR_IDLE_MS,
      rememberedBytesMax: REMEMBERED_BYTES_MAX,
      logKeepMs: settings.logKeepMs,
      recordsUpdates: settings.recordsUpdates,
      endedLifeMs: settings.historyRetentionMs.messagesAndEvents,
      derive: (text) => hash('sha256', text, 'hex').slice(0, 32),
    },
  )
}

/** Appends ticks past the acceptor, which is in another thread. */
const tickOf =
  (append: LogWriter['append']): SystemPorts['appendTick'] =>
  (lane, tick) =>
    append({ lane, count: 1, payload: encodeBatch([encodeSubmission(tick)]) })

interface Maintenance {
  readonly retention: RetentionStore
  readonly joining: JoiningStore
  readonly merging: MergingStore
  readonly pushes: Pick<PushStore, 'tend'>
  readonly system: ActorSystem
  readonly bus: Pick<Bus, 'notify'>
  readonly meter: Meter
  readonly settings: ThreadSettings
  readonly edge: Pick<ThreadEdge, 'logger' | 'runtime'>
}

/**
 * Purges the log and removes rows past their retention, in small steps. Gives a function that stops
 * this.
 */
export function startMaintenance(maintenance: Maintenance): () => Promise<void> {
  const { retention, joining, merging, pushes, system, bus, meter, settings, edge } = maintenance
  const { logger, runtime } = edge
  const removed = meter.counter('retention_removed_total', {})
  let isStopping = false
  // Only the owner of the first lane removes rows: two nodes would wait for each other's locks.
  const mayGoOn = (): boolean => !isStopping && system.places().some(({ lane }) => lane === 0)
  const isClockAhead = warnedOf(new ClockLead(runtime), logger)
  const removal = { retention, bus, settings, runtime, isClockAhead, mayGoOn, removed }
  const tend = async (): Promise<void> => {
    if (mayGoOn()) await pushes.tend(runtime.nowMs())
  }
  const join = async (): Promise<void> => {
    while (mayGoOn() && (await joining.join(runtime.nowMs(), system.isBusy)) > 0) continue
  }
  const merge = async (): Promise<void> => {
    const { tierRetentionMs: kept } = settings
    while (mayGoOn() && !system.isBusy && (await merging.merge(runtime.nowMs(), kept)) > 0) continue
  }
  const stops = [
    repeat(JOIN_EVERY_MS, join, { logger, runtime }),
    repeat(MERGE_EVERY_MS, merge, { logger, runtime }),
    repeat(PURGE_EVERY_MS, () => system.purge(), { logger, runtime }),
    repeat(RETENTION_EVERY_MS, () => removeExpired(removal), { logger, runtime }),
    repeat(RETENTION_EVERY_MS, tend, { logger, runtime }),
    repeat(DEADLINES_EVERY_MS, async () => system.checkDeadlines(), { logger, runtime }),
    repeat(COUNT_EVERY_MS, () => system.countDeadlines(), { logger, runtime }),
  ]
  return async (): Promise<void> => {
    isStopping = true
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** Says once that removal pauses, and once that it goes on. (removal/1) */
function warnedOf(lead: ClockLead, logger: Logger): () => boolean {
  let was = false
  return () => {
    const isAhead = lead.isAhead()
    if (isAhead && !was) {
      logger.warn('the clock was set forward: removal of idle devices and channels pauses')
    } else if (was && !isAhead) logger.info('removal of idle devices and channels goes on')
    was = isAhead
    return isAhead
  }
}

/**
 * Runs a task every so many milliseconds, but not while it still runs. Gives a function that stops
 * this and waits for the end of a running task.
 */
export function repeat(
  everyMs: number,
  task: () => Promise<void>,
  { logger, runtime }: { readonly logger: Logger; readonly runtime: Pick<Runtime, 'every'> },
): () => Promise<void> {
  let running: Promise<void> | undefined
  const cancel = runtime.every(everyMs, () => {
    running ??= task()
      .catch((error: unknown) => logger.warn('a maintenance task failed', { error: String(error) }))
      .finally(() => {
        running = undefined
      })
  })
  return async () => {
    cancel()
    await running
  }
}
