// Reads and fills SQLite files in a process of its own, with the SQLite that Node brings: another
// implementation than the one under test, and off the bench's own event loop.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { NewDevices } from './device-keys.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('database-process.ts', import.meta.url))

/** Counts of the rows of a database. */
export interface RowCounts {
  readonly operations: number
  /** Sum of the revisions of all things: how many updates were applied. */
  readonly revisions: number
  readonly feed: number
}

export interface Stored {
  /** Bytes of the pages that the database of a product uses. */
  readonly bytes: number
  /** Those of the feed and of the records of operations, indices included. */
  readonly ofUpdates: number
  /** Updates of things in blocks that are not joined yet. */
  readonly unjoined: number
}

/** A list of the tables of `ofUpdates`. */
export const OF_UPDATES = `('feed_entries', 'update_blocks', 'update_places', 'operations',
  'operation_batches')`
const PAGES = 'SELECT coalesce(sum(pgsize), 0) FROM dbstat'
const PAGES_OF_UPDATES = `${PAGES} WHERE name IN
  (SELECT name FROM sqlite_schema WHERE tbl_name IN ${OF_UPDATES})`

export const UNJOINED = 'SELECT coalesce(sum(entries), 0) FROM update_blocks WHERE is_joined = 0'

/** One SELECT for each count, with one number. */
export type CountQueries = Readonly<Record<keyof RowCounts, string>>

/** Counts rows, in one snapshot; the server may be running. */
export async function countRows(path: string, queries: CountQueries): Promise<RowCounts> {
  const { operations, revisions, feed } = queries
  const [first = NaN, second = NaN, third = NaN] = await numbers([
    'count',
    path,
    operations,
    revisions,
    feed,
  ])
  return { operations: first, revisions: second, feed: third }
}

/** What a file takes; the server may be running. */
export async function storedIn(path: string): Promise<Stored> {
  const found = await numbers(['count', path, PAGES, PAGES_OF_UPDATES, UNJOINED])
  const [bytes = NaN, ofUpdates = NaN, unjoined = NaN] = found
  return { bytes, ofUpdates, unjoined }
}

/** Adds so many things of the workload to channels without any. No server may run. */
export async function addThings(path: string, count: number): Promise<void> {
  await numbers(['things', path, String(count)])
}

/** Adds channels with a key each, those of keyedChannels. No server may run. */
export async function addKeyedChannels(path: string, count: number): Promise<void> {
  await numbers(['keys', path, String(count)])
}

/** Adds Messages to every channel. No server may run. */
export async function addMessages(path: string, each: number): Promise<void> {
  await numbers(['messages', path, String(each)])
}

/** Adds updates to every channel, of the one thing that it has. No server may run. */
export async function addUpdates(path: string, each: number): Promise<void> {
  await numbers(['updates', path, String(each)])
}

/** Adds so many updates of now to the first channel, of the things that it has. No server may run. */
export async function addHistory(path: string, count: number): Promise<void> {
  await numbers(['history', path, String(count)])
}

/** Puts these rules into every channel. No server may run. */
export async function addRules(path: string, rules: readonly object[]): Promise<void> {
  await numbers(['rules', path, JSON.stringify(rules)])
}

/**
 * Makes a deadline for each Thing of the channels with a rule: some due at once, the others spread
 * over so many milliseconds from now on. No server may run.
 */
export async function addDeadlines(path: string, atOnce: number, spreadMs: number): Promise<void> {
  await numbers(['deadlines', path, String(atOnce), String(spreadMs)])
}

/** Makes the devices of `deviceKeysOf`, with their channels. No server may run. */
export async function addDevices(path: string, devices: NewDevices): Promise<void> {
  await numbers(['devices', path, JSON.stringify(devices)])
}

async function numbers(words: readonly string[]): Promise<number[]> {
  const flags = [...process.execArgv, '--disable-warning=ExperimentalWarning', script]
  const { stdout } = await run(process.execPath, [...flags, ...words])
  return stdout.trim().split(' ').map(Number)
}
