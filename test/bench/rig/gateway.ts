// The product as one process: what `npm start` runs, on a copy of a database prepared once.

import { randomBytes } from 'node:crypto'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { Caller, PASSWORD, fill, warm } from './caller.ts'
import type { Prepared } from './caller.ts'
import { countRows, storedIn } from './database.ts'
import type { CountQueries } from './database.ts'
import { THING_COUNT } from './denominators.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'
import { operationsEnded } from './subject.ts'
import type { Subject } from './subject.ts'

const MAIN = fileURLToPath(import.meta.resolve('#src/main'))
const DATABASE = 'gateway.db'

/** Variables of the environment. */
export type Settings = Readonly<Record<string, string>>

/** The counts of the product, in every database that it runs on. */
export const QUERIES: CountQueries = {
  operations: `SELECT (SELECT count(*) FROM operations) +
    (SELECT coalesce(sum(operations), 0) FROM operation_batches)`,
  revisions: `SELECT sum(json_extract(document, '$.rev')) FROM things`,
  feed: `SELECT (SELECT count(*) FROM thing_updates) + (SELECT count(*) FROM feed_entries) +
    (SELECT coalesce(sum(entries), 0) FROM update_blocks)`,
}

export const newToken = (): string => randomBytes(16).toString('hex')

/** Makes the channels, and the devices that are subscribed to them. */
export async function prepareGateway(directory: string, channelCount?: number): Promise<Prepared> {
  await mkdir(directory, { recursive: true })
  const token = newToken()
  const server = await startGateway(directory, token)
  try {
    return { directory, token, ...(await fill(new Caller(server, token), channelCount)) }
  } finally {
    await server.stop()
  }
}

/**
 * Starts the product on a copy of what was prepared, with these settings beside the defaults, and
 * lets it verify every password once.
 */
export async function startPrepared(
  prepared: Prepared,
  directory: string,
  settings: Settings = {},
): Promise<Subject> {
  await cp(prepared.directory, directory, { recursive: true })
  const { token, channels, deviceKeys } = prepared
  const server = await startGateway(directory, token, settings)
  try {
    await warm(new Caller(server, token), channels)
  } catch (error) {
    await server.stop()
    throw error
  }
  return {
    name: 'gateway',
    servers: [server],
    entrances: [server],
    backend: {},
    recipe: { path: '/thing/update', token, password: PASSWORD, channels, thingCount: THING_COUNT },
    deviceKeys,
    applied: () => operationsEnded([server], token),
    count: () => countRows(databaseIn(directory), QUERIES),
    stored: () => storedIn(databaseIn(directory)),
    release: () => Promise.resolve(),
    ran: {
      engine: 'embedded (node:sqlite)',
      sync: 'as the product starts by default: fsync before each 200',
      lanes: '1 (default)',
      batch: 'default limits (256 submissions or 256 KiB per lane)',
      processes: '1, with its two worker threads',
      subscribers: '32 devices, each with its part of the channels',
    },
  }
}

/** The product with these settings beside its address. */
export const startProduct = (settings: Settings): Promise<Server> => startServer(MAIN, settings)

/** The product on a database of its own, as a user would start it. */
export const startGateway = (
  directory: string,
  token: string,
  settings: Settings = {},
): Promise<Server> =>
  startProduct({
    ...settings,
    SERVICE_DATABASE_URL: `sqlite:${databaseIn(directory)}`,
    SERVICE_TOKEN: token,
  })

export const databaseIn = (directory: string): string => join(directory, DATABASE)

/**
 * One update of one channel, as the first request of a client would be; true when it was accepted.
 */
export async function submitOnce(server: Server, prepared: Prepared): Promise<boolean> {
  const [channel = ''] = prepared.channels
  try {
    await new Caller(server, prepared.token).submit(channel)
    return true
  } catch {
    // Not ready yet: whoever asks tries again, within a limit of its own.
    return false
  }
}
