// How steady the machine is. A p99 of the gateway says little where the same computation, with
// nothing beside it, takes four times as long once in a hundred times.

import { percentile } from './statistics.ts'

const ROUNDS = 300
/** Some 5 ms of processor time, without a garbage collector. */
const STEPS = 3 * 2 ** 20

/** Milliseconds of one computation, half of the time and 99 times of a hundred at most. */
export function steadiness(
  nowMs: () => number = () => performance.now(),
  steps = STEPS,
): { readonly p50Ms: number; readonly p99Ms: number } {
  const taken: number[] = []
  let hash = 1
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = nowMs()
    for (let step = 0; step < steps; step += 1) hash = Math.imul(hash ^ step, 0x01000193)
    taken.push(nowMs() - startMs)
  }
  taken.sort((one, other) => one - other)
  return { p50Ms: percentile(taken, 0.5), p99Ms: percentile(taken, 0.99) }
}
