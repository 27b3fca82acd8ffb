// Reads JSON from a file, or from the standard input for `-`.

import { readFileSync } from 'node:fs'

import type { Json } from '#domain/submission'
import { parameter } from './command.ts'
import type { Parameter } from './command.ts'
import { UsageError, fileReason } from './endings.ts'
import type { ProcessContext } from './process-context.ts'

/** The parameter of a command that reads JSON. */
export const jsonFile = (what: string): Parameter<string> =>
  parameter('<file>', `${what} as JSON; - reads the standard input`, { completes: 'file' })

/** The value in a file. Throws UsageError, which names the file. */
export async function jsonIn(file: string, { readInput }: ProcessContext): Promise<Json> {
  try {
    return JSON.parse(file === '-' ? await readInput() : readFileSync(file, 'utf8')) as Json
  } catch (error) {
    throw new UsageError(`${file}: ${fileReason(error)}`)
  }
}
