// The bounds of waits and of tests. They end what hangs; a machine that is busy, or slow, stays far
// within them.

/** The longest wait for one thing, in milliseconds. */
export const WAIT_MS = 120_000

/** The longest test, in milliseconds. */
export const TEST_MS = 900_000
