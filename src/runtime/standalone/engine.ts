// Composes the engine of a sole process: actors and store over one SQLite database. It reads the
// log from the log's thread.

import type { ActorSystem } from '#actors/system'
import { hasTiers } from '#domain/history/series'
import type { Bus, LogSource, LogWriter } from '#domain/ports'
import type { Batch } from '#domain/lane'
import type { Meter } from '#domain/telemetry'
import { FENCED } from '#src/runtime/threads/contract'
import type {
  EngineControl,
  JobsEnd,
  LogEnd,
  ReaderEnd,
  ThreadEnds,
  ThreadSettings,
} from '#src/runtime/threads/contract'
import { startMaintenance, makeSystem } from '#src/runtime/engine/maintenance'
import { pushRulesOf } from '#src/runtime/dispatch/push-rules'
import { databaseOf } from '#src/runtime/threads/servers'
import { Rpc } from '#src/threads/rpc'
import { serveBus } from '#src/threads/bus-bridge'
import { logStateOf } from '#src/stream/log-state'
import { openStore } from '#src/store/store'
import type { Store } from '#src/store/store'
import { LocalBus } from '#src/stream/embedded/bus'
import { SoleOwner } from '#src/stream/embedded/leases'
import { EmbeddedReader } from '#src/stream/embedded/reader'
import { createMetrics } from '#src/telemetry/meter'
import type { ThreadEdge } from '#src/runtime/threads/threads'
import type { PeerWire } from '#src/threads/wire'

const TAIL_BYTES_MAX = 64 * 2 ** 20

export async function composeEmbeddedEngine(
  settings: ThreadSettings,
  edge: ThreadEdge<'engine'>,
): Promise<ThreadEnds['engine']['services']> {
  const { rpc, peer, runtime, servers } = edge
  if (peer === undefined) throw new Error('the engine of a sole process has no log')
  const metrics = createMetrics()
  const { meter } = metrics
  const log = new LogClient(peer)
  await log.source.identity() // The log answers once it holds the lock of the database.
  const pushRules = pushRulesOf(settings)
  const store = await openStore({
    ...databaseOf(settings, servers),
    meter,
    runtime,
    pushes: pushRules,
    hasTiers: hasTiers(settings.tierRetentionMs),
  })
  const bus = new LocalBus()
  serveBus(bus, rpc)
  rpc.onTell('dispatch', (wire) => serveJobs(wire, { ...store, bus }))
  let owner: Owner | undefined
  const control: EngineControl = {
    metrics: () => metrics.part(),
    start: async () => {
      owner = await startOwner({ settings, edge, meter, store, log, bus })
    },
    ownedLanes: () => Promise.resolve(owner?.system.ownedLanes ?? 0),
    drain: async () => {
      // The answer arrives after all earlier messages: every accepted batch is known here now.
      await log.source.identity()
      await owner?.system.drain()
    },
    close: async () => {
      await owner?.stop()
      await store.close()
    },
  }
  const { frontend, probe } = store
  return { ...frontend, control, probe }
}

/** Serves the jobs to one thread of dispatch, until it ends. */
function serveJobs(
  wire: PeerWire,
  {
    pushes,
    secrets,
    bus,
  }: Pick<Store, 'pushes' | 'secrets'> & { readonly bus: Pick<Bus, 'onNotice'> },
): void {
  const dispatch = new Rpc<JobsEnd, ReaderEnd>(wire)
  dispatch.serve({ pushes, secrets })
  const stop = bus.onNotice(({ kind }) => {
    if (kind === 'pushes-queued') dispatch.tell('queued', undefined)
  })
  wire.on('close', stop)
}

interface OwnerParts {
  readonly settings: ThreadSettings
  readonly edge: ThreadEdge<'engine'>
  readonly meter: Meter
  readonly store: Store
  readonly log: LogClient
  readonly bus: LocalBus
}

/** The system that applies the lanes, with the maintenance around it. */
interface Owner {
  readonly system: ActorSystem
  stop(): Promise<void>
}

/** Starts the owner; resolves once it has applied everything in the log. */
async function startOwner({ settings, edge, meter, store, log, bus }: OwnerParts): Promise<Owner> {
  const { logger, runtime, fail } = edge
  const { lanes } = settings
  // From here on no other process appends, so the bounds read next are complete.
  const leases = await SoleOwner.takeOver(
    { store: store.turns, log: log.source, onFenced: () => fail(FENCED) },
    lanes,
  )
  const reader = await log.open(lanes)
  await store.turns.bindLog(await logStateOf(reader, lanes))
  const ports = {
    store: store.turns,
    log: reader,
    append: (batch: Batch) => log.source.append(batch),
    leases,
    bus,
    meter,
    logger,
    nowMs: runtime.nowMs,
    wait: runtime.wait,
    // SQLite commits on this thread: a task put off until the commit has begun would wait for its
    // end.
    soon: (task: () => void): void => task(),
    onMismatch: fail,
  }
  const system = makeSystem(ports, settings)
  meter.gauge('lane_lag_submissions', {}, () => Math.max(0, reader.appended - system.applied))
  await system.start()
  // A client that got its answer before the last stop finds its operation, also after a crash.
  await system.caughtUp
  const stopMaintenance = startMaintenance({
    ...store,
    system,
    bus,
    meter,
    settings,
    edge,
  })
  const stop = async (): Promise<void> => {
    await stopMaintenance()
    await system.halt()
  }
  return { system, stop }
}

/** Calls the log in its own thread. */
class LogClient {
  readonly source: LogSource & LogWriter
  #reader: EmbeddedReader | undefined

  constructor(wire: PeerWire) {
    const peer = new Rpc<ReaderEnd, LogEnd>(wire)
    wire.on('close', () => peer.break(new Error("the log's thread has ended")))
    peer.onTell('appended', (batches) => this.#reader?.take(batches))
    this.source = peer.remote('log')
  }

  async open(lanes: number): Promise<EmbeddedReader> {
    const options = { lanes, tailBytesMax: TAIL_BYTES_MAX }
    this.#reader = await EmbeddedReader.open(this.source, options)
    return this.#reader
  }
}
