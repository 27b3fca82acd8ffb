// Until a subject is warm its figures say how fast its code compiles.

const STEPS_MAX = 10
/** A step that gives less than this much of the best one before has gained nothing. */
const WARMER_RATIO = 1.05

/**
 * The best rate of a closed loop, whose steps are repeated until they gain no more: code compiles
 * and caches fill under load.
 */
export async function warmRate(step: () => Promise<number>): Promise<number> {
  let best = 0
  for (let at = 0; at < STEPS_MAX; at += 1) {
    const rate = await step()
    const isWarm = at > 0 && rate < best * WARMER_RATIO
    best = Math.max(best, rate)
    if (isWarm) break
  }
  return best
}
