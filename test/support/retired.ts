// A store whose retention has run.

import type { Store } from '#src/store/store'
import type { RetentionLimits } from '#domain/retention-ports'
import { limitsOf } from '#test/support/retention-limits'
import { rounds } from '#test/support/until'

/** Steps until nothing is left to remove; returns how many rows each step removed. */
export async function stepsOf(
  { retention }: Pick<Store, 'retention'>,
  limits: RetentionLimits,
  maxRows: number,
): Promise<readonly number[]> {
  const steps: number[] = []
  for (const goOn = rounds(); goOn() && steps.at(-1) !== 0;) {
    steps.push(await retention.step(limits, maxRows))
  }
  return steps.slice(0, -1)
}

/** Removes everything older than a time; ended entities may be kept longer. */
export async function retireBefore(
  store: Store,
  before: number,
  tombstones = before,
): Promise<void> {
  const limits = { ...limitsOf(before), tombstones }
  await stepsOf(store, limits, 7)
}
