// Samples the resident memory of a subject while something is done with it.

import type { Rig } from '#test/bench/rig/rig'

const SAMPLE_MS = 250

export interface Sampled<Result> {
  readonly result: Result
  /** MB, one each so many milliseconds. */
  readonly residentMb: readonly number[]
}

/** Does the work; samples the memory of all servers together until it ends. */
export async function residentDuring<Result>(
  rig: Rig,
  work: () => Promise<Result>,
  everyMs = SAMPLE_MS,
): Promise<Sampled<Result>> {
  const residentMb: number[] = []
  const timer = setInterval(() => residentMb.push(rig.residentMb()), everyMs)
  try {
    return { result: await work(), residentMb }
  } finally {
    clearInterval(timer)
  }
}
