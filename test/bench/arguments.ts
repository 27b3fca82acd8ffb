// `npm run bench -- <row> … [--json FILE] [--seconds N] [--runs N]`

import { parseArgs } from 'node:util'

export interface BenchArguments {
  /** Rows in the order of the table. */
  readonly rows: readonly string[]
  readonly jsonFile: string | undefined
  readonly secondsPerStep: number
  readonly runs: number
}

/**
 * The arguments, or a sentence that says what is wrong with them. `byName`: rows that are measured
 * only when they are named.
 */
export function readArguments(
  words: readonly string[],
  allRows: readonly string[],
  byName: readonly string[] = [],
): BenchArguments | string {
  const knownRows = [...allRows, ...byName]
  const parsed = parsedOrSentence(words)
  if (typeof parsed === 'string') return parsed
  const { values, positionals } = parsed
  const unknown = positionals.find((name) => !knownRows.includes(name))
  if (unknown !== undefined) return `there is no row ${unknown}; rows: ${knownRows.join(', ')}`
  const secondsPerStep = numberIn(values.seconds, { fallback: 5, min: 0.5, max: 600 })
  if (secondsPerStep === undefined) return '--seconds must be a number from 0.5 to 600'
  const runs = numberIn(values.runs, { fallback: 3, min: 1, max: 25 })
  if (runs === undefined || !Number.isInteger(runs))
    return '--runs must be a whole number from 1 to 25'
  const rows =
    positionals.length === 0 ? allRows : knownRows.filter((name) => positionals.includes(name))
  return { rows, jsonFile: values.json, secondsPerStep, runs }
}

function parsedOrSentence(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { json: { type: 'string' }, seconds: { type: 'string' }, runs: { type: 'string' } },
    })
  } catch (error) {
    // parseArgs names the option that it does not know.
    return error instanceof Error ? error.message : String(error)
  }
}

function numberIn(
  text: string | undefined,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number | undefined {
  if (text === undefined) return fallback
  const value = Number(text)
  return text.trim() !== '' && value >= min && value <= max ? value : undefined
}
