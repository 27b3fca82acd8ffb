// The product as one process: what `npm start` runs.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { CountQueries } from './database.ts'
import { startServer } from './server.ts'
import type { Server } from './server.ts'

const MAIN = fileURLToPath(import.meta.resolve('#src/main'))
const DATABASE = 'gateway.db'

/** Variables of the environment. */
export type Settings = Readonly<Record<string, string>>

/** The counts of the product, in every database that it runs on. */
export const QUERIES: CountQueries = {
  operations: `SELECT (SELECT count(*) FROM operations) +
    (SELECT coalesce(sum(operations), 0) FROM operation_batches)`,
  revisions: `SELECT coalesce(sum(json_extract(document, '$.rev')), 0) FROM things`,
  feed: `SELECT (SELECT count(*) FROM feed_entries) +
    (SELECT coalesce(sum(entries), 0) FROM update_blocks)`,
}

export const newToken = (): string => randomBytes(16).toString('hex')

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
