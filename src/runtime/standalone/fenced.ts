/** Why a sole process ends that lost its database in spite of the lock; for the operator. */
export const FENCED =
  'another process has taken the database over: this one accepts and applies nothing any more'
