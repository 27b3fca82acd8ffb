// Waiting for the thing itself: turns of the event loop, never a time.

const TURNS_MAX = 20_000

/** One turn of the event loop: everything that was due has run. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Resolves once `isSo` is true. Rejects after a bounded number of turns, naming what was awaited.
 */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < TURNS_MAX; turns += 1) {
    if (isSo()) return
    await turn()
  }
  throw new Error(`waited in vain until ${what}`)
}
