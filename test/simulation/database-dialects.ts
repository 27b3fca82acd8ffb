// The dialects of simulated databases, and their failures.

import type { Dialect, Failure } from '#src/store/dialect'
import { sqlite } from '#src/store/sqlite/dialect'

/** A failure that a world has drawn. */
export class Failed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(`simulated: ${failure}`)
    this.failure = failure
  }
}

/** The dialect of a file of one process, whose failures are simulated. */
export const SOLE: Dialect = {
  ...sqlite,
  failureOf: (error) => (error instanceof Failed ? error.failure : sqlite.failureOf(error)),
  describe: (error) =>
    error instanceof Failed
      ? { code: error.failure, sentence: error.message }
      : sqlite.describe(error),
}

/** The table that has the time, for a database that several processes share. */
export const CLOCK = 'simulated_clock'

const { spanBits: _, ...unspanned } = SOLE

/**
 * The dialect of a database that several processes share; nothing takes its commits back. It has
 * one span, as MySQL has: numbers of several nodes are in no order. (feed/update-places.ts)
 */
export const SHARED: Dialect = {
  ...unspanned,
  nowMs: `(SELECT now_ms FROM ${CLOCK})`,
  begin: {
    read: [],
    snapshot: ['BEGIN'],
    repeatable: ['BEGIN IMMEDIATE'],
    durable: ['BEGIN IMMEDIATE'],
  },
}
