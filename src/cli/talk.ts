// Makes a client for a command, and reports the gateway's answer.

import type { Command } from 'commander'

import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import { accessOf } from './options.ts'
import type { Access, AccessOptions } from './options.ts'
import { aligned, onOneLine } from './plain-text.ts'
import type { Surroundings } from './surroundings.ts'

export interface Talk {
  readonly client: Client
  readonly access: Access
  /** Prints the answer of the gateway: as JSON on one line, or these lines for a person. */
  readonly report: (answer: object, lines?: readonly string[]) => void
}

export function talk(own: AccessOptions, command: Command, surroundings: Surroundings): Talk {
  const access = accessOf(own, command, surroundings.env)
  const { baseUrl, token, json } = access
  const client = createClient({ baseUrl, token, fetch: surroundings.fetch })
  return {
    client,
    access,
    report: (answer, lines = factLines(answer)) => {
      const output = json ? [JSON.stringify(answer)] : lines
      for (const line of output) surroundings.terminal.print(line)
    },
  }
}

/** One line a member: its name and its value, times as dates. Members of attrs follow, indented. */
export function factLines(facts: object): readonly string[] {
  return aligned(
    Object.entries(facts).flatMap(([name, value]: [string, unknown]) => {
      if (!isNested(value)) return [[onOneLine(name), factText(name, value)]]
      return [[onOneLine(name)], ...Object.entries(value).map(indented)]
    }),
  )
}

const indented = ([name, value]: [string, unknown]): readonly string[] => [
  `  ${onOneLine(name)}`,
  factText('', value),
]

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const TIME = /(_at|_time)$/

function factText(name: string, value: unknown): string {
  if (typeof value === 'number' && TIME.test(name)) return dateText(value)
  return onOneLine(typeof value === 'string' ? value : JSON.stringify(value))
}

/** An ISO 8601 date in UTC. */
export const dateText = (unixMs: number): string => new Date(unixMs).toISOString()

/** The members that are given. */
export function given<Members extends object>(members: Members): Given<Members> {
  const pairs = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(pairs) as Given<Members> // what is undefined was just left out
}

type Given<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
