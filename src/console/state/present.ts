// The present time, for the page and for its workers.

/** Unix milliseconds. */
export const nowMs = (): number => Date.now()
