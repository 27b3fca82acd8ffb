// Makes a client for a command, and reports the gateway's answer.

import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import { accessOf, checkSecrecy } from './access.ts'
import type { Access, AccessGiven } from './access.ts'
import { factLines } from './facts.ts'
import type { ProcessContext } from './process-context.ts'

/** A client of the gateway that a command is about, and the output of its answers. */
export interface CommandClient {
  readonly client: Client
  readonly access: Access
  /** Prints the answer of the gateway: as JSON on one line, or these lines for a person. */
  readonly report: (answer: object, lines?: readonly string[]) => void
}

interface ClientUse {
  /** False for a command that sends no password and no key; true by default. */
  readonly sendsSecrets?: boolean
}

/** Throws UsageError for an address or a token that cannot be used. */
export async function commandClientOf(
  options: AccessGiven,
  context: ProcessContext,
  { sendsSecrets = true }: ClientUse = {},
): Promise<CommandClient> {
  const access = await accessOf(options, context)
  if (sendsSecrets || access.token !== undefined) await checkSecrecy(access, context) // access/2
  const { baseUrl, token, json } = access
  const client = createClient({ baseUrl, token, fetch: context.fetch })
  return {
    client,
    access,
    report: (answer, lines) => {
      const output = json ? [JSON.stringify(answer)] : (lines ?? factLines(answer))
      for (const line of output) context.terminal.print(line)
    },
  }
}

/** The members without those that are undefined. */
export function given<Members extends object>(members: Members): Given<Members> {
  const pairs = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(pairs) as Given<Members> // undefined members were just left out
}

type Given<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
