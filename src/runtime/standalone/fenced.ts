/**
 * The reason for which a sole process ends after it lost its database in spite of the lock; for the
 * operator.
 */
export const FENCED =
  'another process has taken the database over: this one accepts and applies nothing any more'
