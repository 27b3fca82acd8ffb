import type { Batch, LogPosition } from '#domain/lane'
import type { LogTable } from '#domain/ports'

/** Appends to a log that no process has taken over, whose epoch is 0; gives the positions. */
export async function appendTo(
  table: LogTable,
  batches: readonly Batch[],
  { nowMs = 1, epoch = 0 } = {},
): Promise<readonly LogPosition[]> {
  const positions = await table.append(batches, { nowMs, epoch })
  if (positions === 'fenced') throw new Error('the append was fenced')
  return positions
}
