// The product as a cluster: two processes over one nats-server and one mariadbd, on a copy of
// prepared data.

import { cp, mkdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

import { BACKING_SYNC, countRowsAt, startBacking, storedAt } from './backend.ts'
import type { BackingServers } from './backend.ts'
import { Caller, PASSWORD, fill, warm } from './caller.ts'
import type { Prepared } from './caller.ts'
import { THING_COUNT } from './denominators.ts'
import { QUERIES, newToken, startProduct } from './gateway.ts'
import type { Server } from './server.ts'
import { metricOf, operationsEnded } from './subject.ts'
import type { Subject } from './subject.ts'

export const LANES = 16

/**
 * The roles of each node: a node that takes no requests, or applies no lane, costs the others less.
 */
export const LAYOUTS = {
  even: ['ingress,actors', 'ingress,actors'],
  split: ['ingress', 'actors'],
} as const

export type Layout = keyof typeof LAYOUTS

const SPREAD_LIMIT_MS = 30_000
const APPLIED_LIMIT_MS = 60_000
const POLL_MS = 50

/** A running cluster whose nodes can be taken away and given back. */
export interface Cluster {
  /** The nodes as they run now, by their number. */
  readonly nodes: readonly Server[]
  readonly backend: BackingServers
  /** Starts a node that has ended again, under its name. */
  readonly again: (index: number) => Promise<Server>
  /** Ends everything at once. */
  readonly end: () => Promise<void>
}

/** Makes the channels, and the devices that are subscribed to them. */
export async function prepareCluster(directory: string, channelCount?: number): Promise<Prepared> {
  await mkdir(directory, { recursive: true })
  const token = newToken()
  const backend = await startBacking(directory)
  try {
    const node = await startNode(0, { backend, token, roles: LAYOUTS.even[0] })
    await lanesSpread([node], token)
    const filled = await fill(new Caller(node, token), channelCount)
    await node.stop()
    return { directory, token, ...filled }
  } finally {
    await backend.stop()
  }
}

/** Starts two nodes on a copy of what was prepared; resolves when the lanes are shared out. */
export async function startCluster(
  prepared: Prepared,
  directory: string,
  layout: Layout = 'even',
): Promise<Cluster> {
  await cp(prepared.directory, directory, { recursive: true })
  const { token } = prepared
  const backend = await startBacking(directory)
  const nodes: Server[] = []
  const again = async (index: number): Promise<Server> => {
    const node = await startNode(index, { backend, token, roles: LAYOUTS[layout][index] ?? '' })
    nodes[index] = node
    return node
  }
  const end = async (): Promise<void> => {
    await Promise.allSettled(nodes.map((node) => node.kill()))
    await backend.stop()
  }
  try {
    for (const [index] of LAYOUTS[layout].entries()) await again(index)
    await lanesSpread(having('actors', { nodes, layout }), token)
  } catch (error) {
    await end()
    throw error
  }
  return { nodes, backend, again, end }
}

interface LaidOut {
  readonly nodes: readonly Server[]
  readonly layout: Layout
}

const having = (role: 'ingress' | 'actors', { nodes, layout }: LaidOut): readonly Server[] =>
  nodes.filter((_, index) => LAYOUTS[layout][index]?.includes(role))

/** The cluster as a subject; each node that takes requests has verified every password once. */
export async function startPreparedCluster(
  prepared: Prepared,
  directory: string,
  layout: Layout,
): Promise<Subject> {
  const { token, channels, deviceKeys } = prepared
  const { nodes, backend, end } = await startCluster(prepared, directory, layout)
  const applied = (): Promise<number> => operationsEnded(nodes, token)
  const entrances = having('ingress', { nodes, layout })
  try {
    for (const node of entrances) await warm(new Caller(node, token), channels)
    await atLeast(channels.length * entrances.length, applied)
  } catch (error) {
    await end()
    throw error
  }
  return {
    name: 'cluster',
    servers: nodes,
    entrances,
    backend: backend.pids,
    recipe: { path: '/thing/update', token, password: PASSWORD, channels, thingCount: THING_COUNT },
    deviceKeys,
    applied,
    count: () => countRowsAt(backend.databaseUrl, QUERIES),
    stored: () => storedAt(backend.databaseUrl),
    release: () => backend.stop(),
    ran: {
      engine: 'cluster (NATS JetStream + MariaDB over mysql2)',
      sync: BACKING_SYNC,
      lanes: `${LANES} (default), shared by the nodes that apply`,
      batch: 'default limits (256 submissions or 256 KiB per lane)',
      processes: `2 nodes, SERVICE_ROLES ${LAYOUTS[layout].join(' and ')}; 1 nats-server; 1 mariadbd`,
      spread: 'connections and devices in turn over the nodes that take requests',
      subscribers: '32 devices, each with its part of the channels',
    },
  }
}

interface NodeSettings {
  readonly backend: BackingServers
  readonly token: string
  readonly roles: string
}

const startNode = (index: number, { backend, token, roles }: NodeSettings): Promise<Server> =>
  startProduct({
    SERVICE_NODE_ID: `node${index}`,
    SERVICE_ROLES: roles,
    SERVICE_NATS_URL: backend.natsUrl,
    SERVICE_DATABASE_URL: backend.databaseUrl,
    SERVICE_TOKEN: token,
  })

/** The number of lanes whose lease a node holds. */
export const lanesOf = (node: Server, token: string): Promise<number> =>
  metricOf(node, { token, name: 'heliograph_leases_held' })

/** Resolves when every lane is held and every node holds some. */
export async function lanesSpread(nodes: readonly Server[], token: string): Promise<void> {
  const deadline = performance.now() + SPREAD_LIMIT_MS
  for (;;) {
    const held = await Promise.all(nodes.map((node) => lanesOf(node, token)))
    const all = held.reduce((sum, lanes) => sum + lanes, 0)
    if (all === LANES && held.every((lanes) => lanes > 0)) return
    if (performance.now() > deadline) throw new Error(`lanes held by node: ${held.join(', ')}`)
    await delay(POLL_MS)
  }
}

async function atLeast(count: number, applied: () => Promise<number>): Promise<void> {
  const deadline = performance.now() + APPLIED_LIMIT_MS
  while ((await applied()) < count) {
    if (performance.now() > deadline) throw new Error(`fewer than ${count} were applied in time`)
    await delay(POLL_MS)
  }
}
