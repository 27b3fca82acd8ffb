// The product as a cluster: one or two processes over one nats-server and one database, with
// channels that have a key each.

import { setTimeout as delay } from 'node:timers/promises'

import { THING_COUNT } from '#test/bench/load/payload'
import {
  BACKING_SYNC,
  DATABASE_NAME,
  countRowsAt,
  startBacking,
  storedAt,
  writeRowsAt,
} from './backend.ts'
import type { BackingServers } from './backend.ts'
import { keysOf } from './channel-keys.ts'
import { deviceKeysOf, devicesOfAll } from './device-keys.ts'
import type { NewDevices } from './device-keys.ts'
import { writeChannels, writeDevices } from './keyed-rows.ts'
import { QUERIES, newToken, startProduct } from './gateway.ts'
import type { Server } from './server.ts'
import { metricOf, operationsEnded } from './subject.ts'
import type { Subject } from './subject.ts'

/** The product's default. */
export const LANES = 16

/**
 * The roles of each node: a node that takes no requests, or applies no lane, costs the others less.
 */
export const LAYOUTS = {
  even: ['ingress,actors', 'ingress,actors'],
  split: ['ingress', 'actors'],
  one: ['ingress,actors'],
} as const

export type Layout = keyof typeof LAYOUTS

const SPREAD_LIMIT_MS = 30_000
const POLL_MS = 50

/** A running cluster whose nodes can be taken away and given back. */
export interface Cluster {
  /** The nodes as they run now, by their number. */
  readonly nodes: readonly Server[]
  readonly token: string
  readonly backend: BackingServers
  /** Starts a node that has ended again, under its name. */
  readonly again: (index: number) => Promise<Server>
  /** Ends everything at once. */
  readonly end: () => Promise<void>
}

export interface Clustered {
  readonly channels: number
  readonly devices?: NewDevices
  readonly layout: Layout
  /** LANES by default. */
  readonly lanes?: number
}

/** Starts the nodes with channels; resolves when the lanes are shared out. */
export async function startCluster(
  directory: string,
  { channels, devices, layout, lanes = LANES }: Clustered,
): Promise<Cluster> {
  const token = newToken()
  const backend = await startBacking(directory)
  const nodes: Server[] = []
  const again = async (index: number): Promise<Server> => {
    const node = await startNode(index, {
      backend,
      token,
      lanes,
      roles: LAYOUTS[layout][index] ?? '',
    })
    nodes[index] = node
    return node
  }
  const end = async (): Promise<void> => {
    await Promise.allSettled(nodes.map((node) => node.kill()))
    await backend.stop()
  }
  try {
    for (const [index] of LAYOUTS[layout].entries()) await again(index)
    await lanesSpread(having('actors', { nodes, layout }), token, lanes)
    // The nodes have made the tables.
    await writeRowsAt(backend.databaseUrl, async (writer) => {
      await writeChannels(writer, channels)
      if (devices !== undefined) await writeDevices(writer, devices)
    })
  } catch (error) {
    await end()
    throw error
  }
  return { nodes, token, backend, again, end }
}

interface LaidOut {
  readonly nodes: readonly Server[]
  readonly layout: Layout
}

const having = (role: 'ingress' | 'actors', { nodes, layout }: LaidOut): readonly Server[] =>
  nodes.filter((_, index) => LAYOUTS[layout][index]?.includes(role))

/** The cluster as a subject, with devices that together see every channel. */
export async function startClusterSubject(
  directory: string,
  { name, channels, layout, lanes = LANES }: { readonly name: string } & Omit<Clustered, 'devices'>,
): Promise<Subject> {
  const devices = devicesOfAll(name, channels)
  const cluster = await startCluster(directory, { channels, devices, layout, lanes })
  const { nodes, token, backend } = cluster
  return {
    name,
    servers: nodes,
    entrances: having('ingress', { nodes, layout }),
    backend: backend.pids,
    recipe: { token, keys: keysOf(channels), thingCount: THING_COUNT },
    deviceKeys: deviceKeysOf(name, devices.count),
    applied: () => operationsEnded(nodes, token),
    count: () => countRowsAt(backend.databaseUrl, QUERIES),
    stored: () => storedAt(backend.databaseUrl),
    release: () => backend.stop(),
    ran: {
      engine: `cluster (NATS JetStream + ${DATABASE_NAME} over mysql2)`,
      sync: BACKING_SYNC,
      lanes: `${lanes}, shared by the nodes that apply`,
      batch: 'default limits (256 submissions or 256 KiB per lane)',
      processes: `SERVICE_ROLES ${LAYOUTS[layout].join(' and ')}; 1 nats-server; 1 ${DATABASE_NAME}`,
      spread: 'connections and devices in turn over the nodes that take requests',
      channels: `${channels}, with a key each`,
      subscribers: `${devices.count} devices, each with its part of the channels`,
    },
  }
}

interface NodeSettings {
  readonly backend: BackingServers
  readonly token: string
  readonly roles: string
  readonly lanes: number
}

const startNode = (
  index: number,
  { backend, token, roles, lanes }: NodeSettings,
): Promise<Server> =>
  startProduct({
    SERVICE_NODE_ID: `node${index}`,
    SERVICE_ROLES: roles,
    SERVICE_LANES: String(lanes),
    SERVICE_NATS_URL: backend.natsUrl,
    SERVICE_DATABASE_URL: backend.databaseUrl,
    SERVICE_TOKEN: token,
  })

/** The number of lanes whose lease a node holds. */
export const lanesOf = (node: Server, token: string): Promise<number> =>
  metricOf(node, { token, name: 'heliograph_leases_held' })

/** Resolves when every lane is held and every node holds some. */
export async function lanesSpread(
  nodes: readonly Server[],
  token: string,
  lanes = LANES,
): Promise<void> {
  const deadline = performance.now() + SPREAD_LIMIT_MS
  for (;;) {
    const held = await Promise.all(nodes.map((node) => lanesOf(node, token)))
    const all = held.reduce((sum, each) => sum + each, 0)
    if (all === lanes && held.every((each) => each > 0)) return
    if (performance.now() > deadline) throw new Error(`lanes held by node: ${held.join(', ')}`)
    await delay(POLL_MS)
  }
}
