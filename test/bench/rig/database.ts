// Reads and fills SQLite files in a process of its own, with the SQLite that Node brings: another
// implementation than the one under test, and off the bench's own event loop.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const script = fileURLToPath(new URL('database-process.ts', import.meta.url))

/** Counts of the rows of a database. */
export interface RowCounts {
  readonly operations: number
  /** Sum of the revisions of all things: how many updates were applied. */
  readonly revisions: number
  readonly feed: number
}

/** What a database of the product takes. */
export interface Stored {
  /** Bytes of its pages but the free ones. */
  readonly bytes: number
  /** Updates of things that are not gathered into a block yet. */
  readonly updateRows: number
}

export const UPDATE_ROWS = 'SELECT count(*) FROM thing_updates'

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
  const pragmas = ['PRAGMA page_count', 'PRAGMA freelist_count', 'PRAGMA page_size']
  const found = await numbers(['count', path, ...pragmas, UPDATE_ROWS])
  const [pages = NaN, free = NaN, size = NaN, updateRows = NaN] = found
  return { bytes: (pages - free) * size, updateRows }
}

/**
 * Copies the stored things of the product until there are `total`; gives how many. No server may
 * run.
 */
export async function multiplyThings(path: string, total: number): Promise<number> {
  const [things = NaN] = await numbers(['multiply', path, String(total)])
  return things
}

/** Adds so many things of the workload to channels without any; gives the number of all. */
export async function addThings(path: string, count: number): Promise<number> {
  const [things = NaN] = await numbers(['things', path, String(count)])
  return things
}

/** Adds channels with a key each, those of keyedChannels; gives the number of all. */
export async function addKeyedChannels(path: string, count: number): Promise<number> {
  const [channels = NaN] = await numbers(['keys', path, String(count)])
  return channels
}

/** Adds Messages to every channel. No server may run. */
export async function addMessages(path: string, each: number): Promise<void> {
  await numbers(['messages', path, String(each)])
}

/** Adds updates of one thing to every channel. No server may run. */
export async function addUpdates(path: string, each: number): Promise<void> {
  await numbers(['updates', path, String(each)])
}

/** Puts these rules into every channel; gives the number of all. No server may run. */
export async function addRules(path: string, rules: readonly object[]): Promise<number> {
  const [stored = NaN] = await numbers(['rules', path, JSON.stringify(rules)])
  return stored
}

/**
 * Makes a deadline for each Thing of the channels with a rule: some due at once, the others spread
 * over so many milliseconds from now on. No server may run.
 */
export async function addDeadlines(path: string, atOnce: number, spreadMs: number): Promise<void> {
  await numbers(['deadlines', path, String(atOnce), String(spreadMs)])
}

export interface NewDevices {
  readonly name: string
  readonly count: number
  /** Channels of each device; its channels follow those of the device before. */
  readonly channels: number
  /** The one channel of all of them, in place of those. */
  readonly channel?: string
}

/** Makes the devices of `deviceKeysOf`, each with so many channels. No server may run. */
export async function addDevices(
  path: string,
  { name, count, channels, channel = '' }: NewDevices,
): Promise<void> {
  await numbers(['devices', path, name, String(count), String(channels), channel])
}

async function numbers(words: readonly string[]): Promise<number[]> {
  const flags = [...process.execArgv, '--disable-warning=ExperimentalWarning', script]
  const { stdout } = await run(process.execPath, [...flags, ...words])
  return stdout.trim().split(' ').map(Number)
}
