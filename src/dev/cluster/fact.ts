// Turns a log line of a node into a fact for people, without trust in its form.

import { jsonOf, recordOf, textIn } from '#domain/record'
import { onOneLine, shortened } from '#src/cli/terminal-text'

/** A node may repeat a `problem` while it lasts; a `change` happens once. */
export interface Fact {
  readonly kind: 'change' | 'problem'
  readonly text: string
}

/** A change in the life of a process: started, ready, stopped. */
export const change = (text: string): Fact => ({ kind: 'change', text })

const TEXT_MAX = 200
/** The level of a warning; an error is above it. (pino) */
const WARN = 40

/** Facts that this process reports by itself, from the node's process and readiness. */
const REPORTED_OTHERWISE = new Set(['connected to NATS', 'listening', 'stopped'])

/** The fact in a line; undefined when it is nothing new. A line without JSON is a problem. */
export function factOf(line: string): Fact | undefined {
  const fields = recordOf(jsonOf(line))
  if (fields === undefined) return line.trim() === '' ? undefined : fact('problem', line)
  const name = textIn(fields['fact']) ?? ''
  const level = fields['level']
  if (typeof level === 'number' && level >= WARN) {
    const reason = textIn(fields['reason']) || textIn(fields['error']) || ''
    const label = level > WARN ? 'error' : 'warning'
    return fact('problem', `${label}: ${name}${reason === '' ? '' : `: ${reason}`}`)
  }
  if (REPORTED_OTHERWISE.has(name) || name === '') return undefined
  const lanes = fields['lanes']
  return fact('change', Array.isArray(lanes) ? holds(lanes.filter(Number.isInteger)) : name)
}

const fact = (kind: Fact['kind'], text: string): Fact => ({
  kind,
  text: shortened(onOneLine(text), TEXT_MAX),
})

function holds(lanes: readonly number[]): string {
  if (lanes.length === 0) return 'holds no lane'
  return `holds ${lanes.length} ${lanes.length === 1 ? 'lane' : 'lanes'}: ${ranges(lanes)}`
}

/** `0-2, 5` of 0, 1, 2 and 5. */
function ranges(numbers: readonly number[]): string {
  const found: [first: number, last: number][] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const range = found.at(-1)
    if (range !== undefined && number <= range[1] + 1) range[1] = number
    else found.push([number, number])
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
}
