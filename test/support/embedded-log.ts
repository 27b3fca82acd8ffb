// Both sides of the embedded log, joined without RPC.

import type { LogReader, LogWriter } from '#domain/ports'
import { EmbeddedReader } from '#src/stream/embedded/reader'
import type { EmbeddedReaderOptions } from '#src/stream/embedded/reader'
import { EmbeddedWriter } from '#src/stream/embedded/writer'
import type { EmbeddedWriterPorts } from '#src/stream/embedded/writer'

export interface EmbeddedLogOptions extends EmbeddedReaderOptions {
  readonly bytesMax: number
}

export type EmbeddedLog = LogReader & LogWriter & { readonly appended: () => number }

export async function openEmbeddedLog(
  ports: EmbeddedWriterPorts,
  { bytesMax, ...options }: EmbeddedLogOptions,
): Promise<EmbeddedLog> {
  const writer = await EmbeddedWriter.open(ports, bytesMax)
  await writer.takeOver(0)
  const reader = await EmbeddedReader.open(writer, options)
  writer.sendTo((batches) => reader.take(batches))
  return {
    append: (batch) => writer.append(batch),
    identity: () => reader.identity(),
    bounds: (lane) => reader.bounds(lane),
    read: (lane, after, maxCount) => reader.read(lane, after, maxCount),
    watch: (wake) => reader.watch(wake),
    purge: (lane, through, olderThanMs) => reader.purge(lane, through, olderThanMs),
    appended: () => reader.appended,
  }
}
