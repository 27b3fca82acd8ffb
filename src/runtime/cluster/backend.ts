// Composes the backend of a cluster's node: the log is JetStream, the store MySQL, the bus core
// NATS. The frontend's thread and the engine's thread each have their own connections. The engine
// applies the lanes that this node holds.
//
// Invariants:
//   W5. The database follows this stream with this number of lanes, or the node does not start.
//   only-node/1. A node ends a task of one node before another one begins it, unless its end takes
//     longer than a lease may: then the task must do no harm on two nodes.

import { LANES_MAX } from '#domain/lane'
import type { Bus, LaneLeases, Probe } from '#domain/ports'
import type { Backend, BackendEdge } from '#src/runtime/backend'
import type { ClusterSettings, Config } from '#src/config/config'
import { keepDispatch } from '#src/runtime/dispatch/keeper'
import type { KeptDispatch } from '#src/runtime/dispatch/keeper'
import { SharedLeases } from '#src/stream/leases/leases'
import { operationsOfAllNodes } from './operation-lookup.ts'
import { databaseOf, natsOf } from '#src/runtime/threads/servers'
import { logStateOf } from '#src/stream/log-state'
import { openStore } from '#src/store/store'
import { NatsBus } from '#src/stream/jetstream/bus'
import { Connection } from '#src/stream/jetstream/connection'
import { StatusInquiry } from '#src/stream/jetstream/inquiry'
import { JetStreamLog } from '#src/stream/jetstream/log'
import { StreamProbe } from '#src/stream/jetstream/probe'
import { threadSettings } from '#src/runtime/threads/contract'
import { startThread } from '#src/runtime/threads/start-thread'
import type { Thread } from '#src/runtime/threads/start-thread'

/**
 * An append without a disk sync takes less than a millisecond. It costs this node, the NATS server
 * and the lane's owner the same whatever its size, so a round gathers many submissions.
 */
const ROUND_MS = 12
const PENDING_BYTES_MAX = 64 * 2 ** 20
/** The frontend reads nothing from the log. */
const TAIL_BYTES_MAX = 2 ** 20

/** The leases of tasks that one node has at a time: their numbers stand behind those of lanes. */
const TASKS = { bridge: LANES_MAX }

type ClusterConfig = Config & { readonly cluster: ClusterSettings }

/** Rejects with a sentence for the operator when something cannot start. */
export async function startCluster(config: Config, edge: BackendEdge): Promise<Backend> {
  const { cluster } = config
  if (cluster === undefined) throw new Error('there are no settings of a cluster')
  const closing: Closing = []
  try {
    return await compose({ ...config, cluster }, edge, closing)
  } catch (error) {
    await closeAll(closing)
    throw error
  }
}

/** Functions that close what was opened, in the order of opening. */
type Closing = (() => Promise<void>)[]

async function closeAll(closing: Closing): Promise<void> {
  for (const close of closing.splice(0).toReversed()) await close()
}

async function compose(
  config: ClusterConfig,
  edge: BackendEdge,
  closing: Closing,
): Promise<Backend> {
  const { logger, meter, runtime, servers } = edge
  const { monotonicMs, entropy, wait } = runtime
  const { cluster, lanes, logBytesMax, nodeId } = config
  const ports = { logger, timers: runtime, monotonicMs, entropy, meter }
  const connection = await Connection.open(ports, { ...natsOf(cluster, servers), name: nodeId })
  closing.push(() => connection.close())
  const log = await JetStreamLog.open(
    { ...ports, connection },
    {
      replicas: cluster.streamReplicas,
      bytesMax: logBytesMax,
      tailBytesMax: TAIL_BYTES_MAX,
      pendingBytesMax: PENDING_BYTES_MAX,
    },
  )
  closing.push(async () => log.close())
  const store = await openStore({ ...databaseOf(config, servers), meter, logger, runtime })
  closing.push(() => store.close())
  await store.turns.bindLog(await logStateOf(log, lanes, wait)) // W5
  const bus = new NatsBus({ ...ports, connection, writer: log.writer })
  closing.push(async () => bus.close())
  const inquiry = new StatusInquiry({ ...ports, connection })
  closing.push(async () => inquiry.close())
  const probe = await streamProbe(new StreamProbe(connection, log.stream))
  const watched = laneProbe(bus, { lanes, monotonicMs })
  const engine = config.roles.actors ? await startEngine(config, edge) : undefined
  if (engine !== undefined) closing.push(() => engine.stop())
  const dispatch = await keepDispatch({ name: 'cluster-dispatch', config, edge })
  if (dispatch !== undefined) closing.push(() => dispatch.close())
  return {
    log,
    roundMs: ROUND_MS,
    bus,
    stores: {
      ...store.frontend,
      operations: operationsOfAllNodes(store.operations, inquiry),
    },
    probes: [probe, store.probe, watched, ...(dispatch?.probes ?? [])],
    durability: probe.durability,
    answerFor: (sink) => inquiry.answer((opId) => sink.find(opId)),
    onLoss: (listener) => connection.onReconnect(listener),
    alone: (name, changed) => {
      const table = store.leases({ first: TASKS[name], count: 1 })
      const reachLog = () => log.stream.end()
      const leases = new SharedLeases({ ...ports, meter: undefined, table, bus, reachLog }, nodeId)
      return onOnlyNode(leases, changed)
    },
    ...threadControls(engine, dispatch),
    close: () => closeAll(closing),
  }
}

const startEngine = (config: Config, edge: BackendEdge): Promise<Thread<'cluster-engine'>> =>
  startThread({ name: 'cluster-engine', settings: threadSettings(config) }, edge)

function threadControls(
  engine: Thread<'cluster-engine'> | undefined,
  dispatch: KeptDispatch | undefined,
): Pick<Backend, 'metrics' | 'start' | 'drain'> {
  const control = engine?.services.control
  return {
    metrics: async () => [
      ...(control === undefined ? [] : [await control.metrics()]),
      ...((await dispatch?.metrics()) ?? []),
    ],
    start: async () => control?.start(),
    drain: async () => {
      await control?.drain()
      await dispatch?.drain()
    },
  }
}

/** Adds the durability that the stream's probe saw last. */
async function streamProbe(
  probe: StreamProbe,
): Promise<Probe & { readonly durability: () => string }> {
  let durability = await probe.durability()
  return {
    durability: () => durability,
    readiness: async () => {
      const readiness = await probe.readiness()
      if (readiness.ready) durability = readiness.detail
      return readiness
    },
  }
}

/**
 * Calls back with true when this node gets the lease of a task, and with false when it loses it.
 * Resolves to a function that gives the task up.
 */
export const onOnlyNode = (
  leases: LaneLeases,
  changed: (isOurs: boolean) => Promise<void>,
): Promise<() => Promise<void>> => leases.watch((held) => changed(held.length > 0)) // only-node/1

// Checks that every lane has an owner, by the notices that owners send on the bus.

interface LaneProbeOptions {
  readonly lanes: number
  readonly monotonicMs: () => number
}

/** Each owner sends the places of its lanes every second, also when they do not move. */
const SILENT_MS = 5_000

/** Ready while every lane's owner sent a notice within SILENT_MS. */
export function laneProbe(
  bus: Pick<Bus, 'onNotice'>,
  { lanes, monotonicMs }: LaneProbeOptions,
): Probe {
  const noticedMs = new Map<number, number>()
  bus.onNotice((notice) => {
    if (notice.kind === 'applied' && notice.lane < lanes) noticedMs.set(notice.lane, monotonicMs())
  })
  return {
    readiness: async () => {
      const sinceMs = monotonicMs() - SILENT_MS
      const applied = [...noticedMs.values()].filter((atMs) => atMs >= sinceMs).length
      return { name: 'lanes', ready: applied === lanes, detail: `${applied} of ${lanes} applied` }
    },
  }
}
