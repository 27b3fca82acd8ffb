// The log forgets what is applied and old.
//
// Invariants:
//   W4. What was applied is on the disk before the log forgets it: a power cut may not take a turn
//       whose submissions are nowhere else.

import type { LogReader, Notice, NowMs } from '#domain/ports'
import type { TurnStore } from '#domain/store-ports'

/** How far a lane is applied. */
export type Applied = Extract<Notice, { kind: 'applied' }>

export interface PurgePorts {
  readonly log: LogReader
  readonly store: TurnStore
  readonly nowMs: NowMs
}

/** Lane by lane; what is younger than `keepMs` stays. (W4) */
export async function purgeApplied(
  { log, store, nowMs }: PurgePorts,
  places: readonly Applied[],
  keepMs: number,
): Promise<void> {
  await store.settle()
  for (const { lane, position } of places) await log.purge(lane, position, nowMs() - keepMs)
}
