// The composition root: makes every stage, hands each its ports, and starts the last stage first.
//
//   frontend thread:  ingress ─▶ acceptor ─┐             ┌─▶ sessions ─▶ devices
//                                          │ RPC, or     │ RPC, or
//                                          │ NATS        │ NATS, MySQL
//   engine thread:                         └─▶ log ─▶ actors ─▶ store

import { isIPv6 } from 'node:net'

import type { Backend, BackendEdge } from './backend.ts'
import type { Config } from '#src/config/config'
import { composeFrontend } from './frontend.ts'
import type { Frontend } from './frontend.ts'
import type { BoundPorts } from './gateway-profile.ts'
import { createProcessMetrics } from '#src/telemetry/metrics'

type ServerEdge = Omit<BackendEdge, 'meter'>

export interface Server {
  /** The addresses and the durability in force, for the log. */
  readonly listening: Readonly<Record<string, unknown>>
  /** The bound port of the HTTP listener. */
  readonly port: number
  /** Reads every certificate again; sessions and requests go on. */
  reload(): Promise<void>
  /** Sends goaway, refuses new requests, flushes lanes, finishes turns, and closes everything. */
  stop(): Promise<void>
}

/** Starts everything. Rejects with a sentence for the operator when something cannot start. */
export async function startServer(config: Config, edge: ServerEdge): Promise<Server> {
  const metrics = createProcessMetrics()
  const fullEdge = { ...edge, metrics, meter: metrics.meter }
  const backend = await startBackend(config, fullEdge)
  try {
    const frontend = await composeFrontend(config, fullEdge, backend)
    const ports = await startBoth(frontend, backend, config.http.host).catch(
      async (error: unknown) => {
        await frontend.close() // Its sessions have timers, and a process with timers never ends.
        throw error
      },
    )
    const { host } = config.http
    const { http: port = 0, ...devices } = Object.fromEntries(ports)
    const listening = { host, port, devices, durability: backend.durability() }
    const reload = (): Promise<void> => frontend.reload()
    return { listening, port, reload, stop: () => stopAll(frontend, backend) }
  } catch (error) {
    await backend.close()
    throw error
  }
}

/** A sole process loads neither NATS nor a database into this thread. */
async function startBackend(config: Config, edge: BackendEdge): Promise<Backend> {
  if (config.cluster === undefined) {
    return (await import('./standalone/backend.ts')).startEmbedded(config, edge)
  }
  return (await import('./cluster/backend.ts')).startCluster(config, edge)
}

/** Starts both and gives the bound ports. A process that cannot bind its ports takes no lanes. */
async function startBoth(frontend: Frontend, backend: Backend, host: string): Promise<BoundPorts> {
  const ports = await frontend.listen()
  const port = ports.get('http') ?? 0
  await backend.start(isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`)
  frontend.open()
  return ports
}

/**
 * Stops the stages in the order in which a submission passes them, so that those inside can finish;
 * the store stops last. The sessions begin first and drain at the same time as the rest: turns may
 * wait for a database that does not answer, and a device gets their entries from the feed when it
 * is back. Other nodes ask this one for its submissions until they are applied. (decisions.md 5)
 */
async function stopAll(frontend: Frontend, backend: Backend): Promise<void> {
  const sessionsDrained = frontend.drainSessions()
  await frontend.drain()
  await backend.drain()
  await sessionsDrained
  await frontend.close()
  await frontend.applied()
  await backend.close()
}
