// What writes the lines of an export in a format.

import type { ExportLine } from '#src/client/export'

/** A part of a file. */
export type Part = string | Uint8Array

export interface Encoder {
  /** The parts that are ready once a line is added, which holds no more than one part in memory. */
  add(line: ExportLine): Iterable<Part>
  /** The last parts. */
  end(): Iterable<Part>
}
