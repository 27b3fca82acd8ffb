// D1 and both D4 as subjects.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { CHANNEL_COUNT, THING_COUNT } from '#test/bench/load/payload'
import type { Recipe } from '#test/bench/load/payload'
import { BACKING_SYNC, countRowsAt, startBacking } from './backend.ts'
import { keysOf } from './channel-keys.ts'
import { countRows } from './database.ts'
import type { CountQueries } from './database.ts'
import { startServer } from './server.ts'
import { operationsEnded } from './subject.ts'
import type { Subject } from './subject.ts'

const QUERIES: CountQueries = {
  operations: 'SELECT count(*) FROM operations',
  revisions: 'SELECT coalesce(sum(rev), 0) FROM things',
  feed: 'SELECT count(*) FROM feed',
}

const script = (name: string): string =>
  fileURLToPath(new URL(`../denominators/${name}`, import.meta.url))

/** The same requests as the product gets, the authorization header included. */
const recipe: Recipe = {
  // It has the length of the product's token.
  token: 'bench-gateway-token'.padEnd(32, '-'),
  keys: keysOf(CHANNEL_COUNT),
  thingCount: THING_COUNT,
}

/** D1: parse and answer. */
export async function startBareHttp(): Promise<Subject> {
  const server = await startServer(script('bare-http.ts'), {})
  return {
    name: 'D1',
    servers: [server],
    entrances: [server],
    backend: {},
    recipe,
    deviceKeys: [],
    applied: () => Promise.resolve(undefined),
    count: () => Promise.resolve(undefined),
    release: () => Promise.resolve(),
    ran: { engine: 'none', processes: 1 },
  }
}

/** D4 of the embedded engine: the whole path in one straight line. */
export async function startStraightLine(directory: string): Promise<Subject> {
  const path = join(directory, 'straight-line.db')
  const server = await startServer(script('straight-line.ts'), {
    SERVICE_DATABASE_URL: `sqlite:${path}`,
  })
  return {
    name: 'D4-embedded',
    servers: [server],
    entrances: [server],
    backend: {},
    recipe,
    deviceKeys: ['straight-line'],
    applied: () => operationsEnded([server], ''),
    count: () => countRows(path, QUERIES),
    release: () => Promise.resolve(),
    ran: {
      engine: 'embedded (node:sqlite)',
      sync: 'log FULL, one fsync per append; state NORMAL, checked against the log position',
      lanes: 1,
      batch: 'all that came since the last append; turns of 1,000 to 4,000',
      processes: '1, with a log thread and a store thread',
    },
  }
}

/** D4 of the cluster: the same line through JetStream and MariaDB. */
export async function startStraightLineCluster(directory: string): Promise<Subject> {
  const backend = await startBacking(directory)
  const server = await startServer(script('straight-line-cluster.ts'), {
    SERVICE_NATS_URL: backend.natsUrl,
    SERVICE_DATABASE_URL: backend.databaseUrl,
  }).catch(async (error: unknown) => {
    await backend.stop()
    throw error
  })
  return {
    name: 'D4-cluster',
    servers: [server],
    entrances: [server],
    backend: backend.pids,
    recipe,
    deviceKeys: ['straight-line'],
    applied: () => operationsEnded([server], ''),
    count: () => countRowsAt(backend.databaseUrl, QUERIES),
    release: () => backend.stop(),
    ran: {
      engine: 'cluster (NATS JetStream + MariaDB over mysql2)',
      sync: BACKING_SYNC,
      lanes: 1,
      batch: 'all that came since the last append, as one message; turns of 1,000 to 4,000',
      processes: '1, with a store thread; 1 nats-server; 1 mariadbd',
    },
  }
}
