// An embedded log over a table in memory.

import type { Batch } from '#domain/lane'
import type { Submission } from '#domain/submission'
import { encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { openEmbeddedLog } from '#test/support/embedded-log'
import type { EmbeddedLogOptions } from '#test/support/embedded-log'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { MemoryLogTable } from '#test/support/memory-log-table'
import { turn } from '#test/support/until'

export const OPTIONS: EmbeddedLogOptions = { lanes: 2, bytesMax: 100_000, tailBytesMax: 100_000 }

export async function bench(
  options: Partial<EmbeddedLogOptions> = {},
  table: MemoryLogTable = new MemoryLogTable(),
) {
  const meter = new FakeMeter()
  const logger = new FakeLogger()
  const clock = { now: 5000 }
  const fences: number[] = []
  const onFenced = (): void => void fences.push(clock.now)
  const ports = { table, meter, logger, soon: setImmediate, nowMs: () => clock.now, onFenced }
  const log = await openEmbeddedLog(ports, { ...OPTIONS, ...options })
  return {
    log,
    table,
    meter,
    logger,
    clock,
    fences,
    bytes: () => meter.gauges.get('log_bytes')?.(),
  }
}

export function batchOf(lane: number, ...submissions: readonly Submission[]): Batch {
  const payload = encodeBatch(submissions.map(encodeSubmission))
  return { lane, count: submissions.length, payload }
}

/** A batch of no submissions whose payload takes so many characters. */
export const padded = (length: number, lane = 0): Batch => ({
  lane,
  count: 1,
  payload: ' '.repeat(length - 2) + '[]',
})

/** Holds the table's transactions; gives a function that lets the oldest one go. */
export function hold(table: MemoryLogTable): () => Promise<void> {
  const held: (() => void)[] = []
  table.beforeAppend = () => new Promise((resolve) => held.push(resolve))
  return async () => {
    held.shift()?.()
    await turn()
  }
}
