// The state of a log, which a database compares with the log that it follows. (W5)

import type { LogState } from '#domain/lane'
import type { LogReader } from '#domain/ports'

/** Ten seconds, as long as the stream itself retries. */
const LOOKS_MAX = 40
export const LOOK_AGAIN_MS = 250

/**
 * The log's name, and a function that reads the ends of its lanes. With several servers, a new
 * leader may store an entry later than the server that handed it out: with `pause`, an end that is
 * too early counts only once it stays.
 */
export async function logStateOf(
  log: Pick<LogReader, 'identity' | 'bounds'>,
  lanes: number,
  pause?: (delayMs: number) => Promise<void>,
): Promise<LogState> {
  const every = Array.from({ length: lanes }, (_, lane) => lane)
  const bounds: LogState['bounds'] = async (applied) => {
    for (let look = 1; ; look += 1) {
      const found = await Promise.all(every.map((lane) => log.bounds(lane)))
      const isEnough = applied.every(({ lane, position }) => position <= (found[lane]?.last ?? 0))
      if (isEnough || pause === undefined || look === LOOKS_MAX) return found
      await pause(LOOK_AGAIN_MS)
    }
  }
  return { identity: await log.identity(), lanes, bounds }
}
