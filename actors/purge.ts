// Purges from the log what is applied and old.
//
// Invariants:
//   W4. Turns are on the disk before the log forgets their submissions: a power cut must not take a
//       turn whose submissions are nowhere else.

import type { LogReader, Notice, NowMs } from '#domain/ports'
import type { TurnStore } from '#domain/store-ports'

/** The place up to which a lane is applied. */
export type Applied = Extract<Notice, { kind: 'applied' }>

export interface PurgePorts {
  readonly log: LogReader
  readonly store: TurnStore
  readonly nowMs: NowMs
}

/** Purges lane by lane; batches younger than `keepMs` stay. (W4) */
export async function purgeApplied(
  { log, store, nowMs }: PurgePorts,
  places: readonly Applied[],
  keepMs: number,
): Promise<void> {
  await store.untilDurable()
  for (const { lane, position } of places) await log.purge(lane, position, nowMs() - keepMs)
}
