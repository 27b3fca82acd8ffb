// A store whose retention has run.

import type { Store } from '#src/store/store'

/** Removes everything older than a time; ended entities may be kept longer. */
export async function retireBefore(
  store: Store,
  before: number,
  tombstones = before,
): Promise<void> {
  const limits = {
    operations: before,
    messagesAndEvents: before,
    thingUpdates: before,
    tombstones,
    deletedChannels: before,
    authorization: before,
  }
  while ((await store.retention.step(limits, 7)) > 0);
}
