// The composition root: makes every stage, hands each its ports, starts the last first.
//
//   front thread:  ingress ─▶ acceptor ─┐             ┌─▶ sessions ─▶ devices
//                                       │ link, or    │ link, or
//                                       │ NATS        │ NATS, MySQL
//   engine thread:                      └─▶ log ─▶ actors ─▶ store

import type { Backing, BackingEdge } from './backing.ts'
import { startCluster } from './cluster.ts'
import type { Config } from './config.ts'
import { startEmbedded } from './embedded.ts'
import { composeFront } from './front.ts'
import type { Front, FrontEdge } from './front.ts'
import { createMetrics } from './telemetry/metrics.ts'

export type ServerEdge = Omit<BackingEdge, 'meter' | 'timers'> & Pick<FrontEdge, 'random'>

export interface Server {
  readonly port: number
  /** No new requests, lanes flushed, turns finished, goaway sent, everything closed. */
  stop(): Promise<void>
}

/** Starts everything. Rejects with a sentence for the operator when something cannot start. */
export async function startServer(config: Config, edge: ServerEdge): Promise<Server> {
  const metrics = createMetrics({ isMain: true })
  const whole = { ...edge, metrics, meter: metrics.meter, timers }
  const start = config.cluster === undefined ? startEmbedded : startCluster
  const backing = await start(config, whole)
  try {
    const front = composeFront(config, whole, backing)
    const port = await front.listen().catch(async (error: unknown) => {
      await front.close() // Its sessions keep time, and a process with timers never ends.
      throw error
    })
    const { host } = config.http
    edge.log.info('listening', { host, port, durability: backing.durability() })
    return { port, stop: () => stopAll(front, backing) }
  } catch (error) {
    await backing.close()
    throw error
  }
}

/**
 * First to last, so that what is inside can leave; sessions after the turns, the store at the end.
 * Other nodes ask this one for what it accepted until it is applied. (decisions.md 5)
 */
async function stopAll(front: Front, backing: Backing): Promise<void> {
  await front.drain()
  await backing.drain()
  await front.close()
  await front.applied()
  await backing.close()
}

const timers = {
  after(delayMs: number, callback: () => void): () => void {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
