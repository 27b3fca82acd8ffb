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

/** The dialect of a database that several processes share; nothing takes its commits back. */
export const SHARED: Dialect = {
  ...SOLE,
  begin: {
    read: [],
    snapshot: ['BEGIN'],
    repeatable: ['BEGIN IMMEDIATE'],
    durable: ['BEGIN IMMEDIATE'],
  },
}
