// Returns the state of a log, which a database compares with the log that it follows. (W5)

import type { LogState } from '#domain/lane'
import type { LogReader } from '#domain/ports'

/** Ten seconds in all, as long as the stream checks its end. (jetstream/lane-stream.ts) */
const CHECKS_MAX = 40
export const CHECK_PAUSE_MS = 250

/**
 * Returns the log's name, and a function that reads the bounds of its lanes. With several servers,
 * a new leader may store an entry later than another server has delivered it. So with `pause`, the
 * function reads the bounds again while a lane seems to end before its applied position.
 */
export async function logStateOf(
  log: Pick<LogReader, 'identity' | 'bounds'>,
  lanes: number,
  pause?: (delayMs: number) => Promise<void>,
): Promise<LogState> {
  const every = Array.from({ length: lanes }, (_, lane) => lane)
  const bounds: LogState['bounds'] = async (applied) => {
    for (let check = 1; ; check += 1) {
      const found = await Promise.all(every.map((lane) => log.bounds(lane)))
      const isEnough = applied.every(({ lane, position }) => position <= (found[lane]?.last ?? 0))
      if (isEnough || pause === undefined || check === CHECKS_MAX) return found
      await pause(CHECK_PAUSE_MS)
    }
  }
  return { identity: await log.identity(), lanes, bounds }
}
