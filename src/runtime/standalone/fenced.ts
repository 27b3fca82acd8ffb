/** Tells the operator why a sole process ends: it lost its database in spite of the lock. */
export const FENCED =
  'another process has taken the database over: this one no longer accepts or applies anything'
