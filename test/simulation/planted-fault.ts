// Reads faults of `planted/`: patches of one place in one file.

import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'planted')

export interface PlantedFault {
  readonly name: string
  /** The option of worlds that have the line; undefined for all. */
  readonly kind: string | undefined
  /** The file, from the root of the repository. */
  readonly path: string
  /** The lines to replace, which the file has once. */
  readonly before: string
  readonly after: string
}

/** Returns every fault, in the order of their names. */
export function plantedFaults(): readonly PlantedFault[] {
  return readdirSync(FOLDER).toSorted().map(readFault)
}

function readFault(file: string): PlantedFault {
  const text = readFileSync(join(FOLDER, file), 'utf8')
  const kind = /^(--(?:sole|cluster))\n/.exec(text)?.[1]
  const path = /^\+\+\+ b\/(.+)$/m.exec(text)?.[1] ?? ''
  const lines = text
    .slice(text.indexOf('\n@@') + 1)
    .split('\n')
    .slice(1, -1)
  const without = (sign: string): string =>
    lines.flatMap((line) => (line.startsWith(sign) ? [] : [`${line.slice(1)}\n`])).join('')
  const name = file.replace(/\.patch$/, '')
  return { name, kind, path, before: without('+'), after: without('-') }
}

/** Returns the text of the fault's file with the fault; undefined unless it has the lines once. */
export function withFault(text: string, { before, after }: PlantedFault): string | undefined {
  const [start = '', end, ...more] = text.split(before)
  return end === undefined || more.length > 0 ? undefined : start + after + end
}
