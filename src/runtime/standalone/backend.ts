// Composes the backend of a sole process: actors and SQLite run in the engine's thread, the log in
// another.

import { existsSync } from 'node:fs'

import { cannotListen } from '#domain/listen-address'
import type { Probe } from '#domain/ports'
import { portsOf } from '#src/config/ports'
import { whyNotBound } from '#src/http/port-check'
import type { Backend, BackendEdge } from '#src/runtime/backend'
import type { Config } from '#src/config/config'
import { keepDispatch } from '#src/runtime/dispatch/keeper'
import { sqliteFileOf } from '#src/store/sqlite/source'
import { bridgedBus } from '#src/threads/bus-bridge'
import type { EngineControl } from '#src/runtime/threads/contract'
import { LocalBus } from '#src/stream/embedded/bus'
import { threadSettings } from '#src/runtime/threads/contract'
import { startThread } from '#src/runtime/threads/start-thread'
import type { Thread } from '#src/runtime/threads/start-thread'

const DURABILITY = 'embedded: fsync before each answer'

/** Rejects with a sentence for the operator when something cannot start. */
export async function startEmbedded(config: Config, edge: BackendEdge): Promise<Backend> {
  await tryPortsOnFirstStart(config)
  const threads = await startThreads(config, edge)
  try {
    return await composeBackend(config, edge, threads)
  } catch (error) {
    for (const thread of [threads.engine, threads.log]) await thread.stop()
    throw error
  }
}

async function composeBackend(
  config: Config,
  edge: BackendEdge,
  { log, engine }: SoleThreads,
): Promise<Backend> {
  const { control, probe, ...stores } = engine.services
  const bus = bridgedBus(new LocalBus(), engine.rpc)
  const dispatch = await keepDispatch({
    name: 'dispatch',
    config,
    edge,
    wire: () => {
      const [dispatchEnd, engineEnd] = edge.threads.wire()
      engine.rpc.hand('dispatch', engineEnd) // keeper/2
      return dispatchEnd
    },
  })
  return {
    log: log.services.log,
    // It needs no rounds: an append waits for the fsync of the one before it.
    roundMs: 0,
    bus,
    stores,
    probes: [
      log.services.probe,
      probe,
      lanesProbe(control, config.lanes),
      ...(dispatch?.probes ?? []),
    ],
    durability: () => DURABILITY,
    metrics: async () => [
      ...(await Promise.all([log.services.control.metrics(), control.metrics()])),
      ...((await dispatch?.metrics()) ?? []),
    ],
    // There is no other process to ask, and RPC loses nothing.
    answerFor: () => undefined,
    onLoss: () => undefined,
    // There is no other process.
    alone: async (_, changed) => {
      await changed(true)
      return () => changed(false)
    },
    start: async (address) => {
      await log.services.control.nameAddress(address)
      await control.start()
    },
    drain: async () => {
      await control.drain()
      await dispatch?.drain()
    },
    close: async () => {
      await dispatch?.close()
      await engine.stop()
      await log.stop()
    },
  }
}

interface SoleThreads {
  readonly log: Thread<'log'>
  readonly engine: Thread<'engine'>
}

async function startThreads(config: Config, edge: BackendEdge): Promise<SoleThreads> {
  const settings = threadSettings(config)
  const [logEnd, engineEnd] = edge.threads.wire()
  // Starts both at once. The engine waits for the log, so a log that cannot start stops the engine
  // too.
  const controller = new AbortController()
  const { signal } = controller
  const abortEngine = (error: unknown): never => {
    controller.abort(error)
    throw error
  }
  const [log, engine] = await Promise.allSettled([
    startThread({ name: 'log', settings, peer: logEnd }, edge).catch(abortEngine),
    startThread({ name: 'engine', settings, peer: engineEnd }, { ...edge, signal }),
  ])
  if (log.status === 'fulfilled' && engine.status === 'fulfilled') {
    return { log: log.value, engine: engine.value }
  }
  for (const started of [engine, log]) {
    if (started.status === 'fulfilled') await started.value.stop()
  }
  // A failure of the log explains the engine's, never the other way round.
  const failed = [log, engine].find((started) => started.status === 'rejected')
  throw failed?.reason
}

/** Ready while this process applies every lane. */
function lanesProbe(engine: Pick<EngineControl, 'ownedLanes'>, lanes: number): Probe {
  return {
    readiness: async () => {
      const owned = await engine.ownedLanes()
      return { name: 'lanes', ready: owned === lanes, detail: `${owned} of ${lanes} owned` }
    },
  }
}

// Tries the ports of a first start before it makes a database, so that a start without its ports
// leaves no file behind. Where the database exists, its lock comes first: the process that holds
// the lock usually has the ports too, and the refusal names that process.

/** Rejects with a sentence for the operator when a new database would have no listener. */
async function tryPortsOnFirstStart(config: Config): Promise<void> {
  const file = sqliteFileOf(config.databaseUrl)
  if (file === undefined || existsSync(file)) return
  for (const { protocol, ...address } of portsOf(config)) {
    const reason = await whyNotBound(address, protocol)
    if (reason !== undefined) throw cannotListen(address, reason)
  }
}
