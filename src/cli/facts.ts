// Writes answers of the gateway as lines for people.

import { isRecord } from '#domain/record'
import { aligned, onOneLine } from './terminal-text.ts'

/**
 * One line for each member: its name and its value, times as dates. The members of an object, for
 * instance attrs, follow on indented lines.
 */
export function factLines(facts: object): readonly string[] {
  return aligned(
    Object.entries(facts).flatMap(([name, value]: [string, unknown]) => {
      if (!isRecord(value)) return [[onOneLine(name), factText(name, value)]]
      return [[onOneLine(name)], ...Object.entries(value).map(indented)]
    }),
  )
}

const indented = ([name, value]: [string, unknown]): readonly string[] => [
  `  ${onOneLine(name)}`,
  factText('', value),
]

const TIME = /(_at|_time|^since)$/

function factText(name: string, value: unknown): string {
  if (typeof value === 'number' && TIME.test(name)) return dateText(value)
  return onOneLine(typeof value === 'string' ? value : JSON.stringify(value))
}

/** An ISO 8601 date in UTC. */
export const dateText = (unixMs: number): string => new Date(unixMs).toISOString()
