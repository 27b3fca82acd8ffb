// A store whose retention has run.

import type { Store } from '#src/store/store'
import { limitsOf } from '#test/support/retention-limits'

/** Removes everything older than a time; ended entities may be kept longer. */
export async function retireBefore(
  store: Store,
  before: number,
  tombstones = before,
): Promise<void> {
  const limits = { ...limitsOf(before), tombstones }
  while ((await store.retention.step(limits, 7)) > 0);
}
