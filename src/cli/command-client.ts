// Makes a client for a command, and reports the gateway's answer; makes commands that send one
// request about a channel and print its answer.

import { createClient } from '#src/client/client'
import type { Client } from '#src/client/client'
import { CHANNEL, accessOf, checkSecrecy, credentialsOf, proofOf } from './access.ts'
import type { Access, AccessGiven, ChannelGiven, Sources } from './access.ts'
import type { Command, Definition, Given, Options, Parameters, Taken } from './command.ts'
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
export function given<Members extends object>(members: Members): Defined<Members> {
  const pairs = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(pairs) as Defined<Members> // undefined members were just left out
}

type Defined<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> }

interface RequestDefinition<Shown, Opts extends Options, Pars extends Parameters> extends Pick<
  Definition<Opts, Pars>,
  'description' | 'examples' | 'parameters'
> {
  /** Options beside those of the gateway and the channel. */
  readonly options?: Opts
  /** Sends the request; the command prints the answer. */
  readonly send: (
    asked: { readonly client: Client; readonly credentials: Shown },
    values: ChannelGiven & Given<Opts> & Taken<Pars>,
    context: ProcessContext,
  ) => Promise<object>
}

const requestBy =
  <Shown>(credentialsIn: (values: ChannelGiven, sources: Sources) => Promise<Shown>) =>
  <Opts extends Options = Record<never, never>, Pars extends Parameters = Record<never, never>>({
    options,
    send,
    ...words
  }: RequestDefinition<Shown, Opts, Pars>): Command => ({
    ...words,
    options: { ...options, ...CHANNEL },
    run: async (values: ChannelGiven & Given<Opts> & Taken<Pars>, context: ProcessContext) => {
      const { client, report } = await commandClientOf(values, context)
      const credentials = await credentialsIn(values, context)
      report(await send({ client, credentials }, values, context))
    },
  })

/** Makes a command of a request for which a key may stand in the place of the channel. */
export const channelRequest = requestBy(credentialsOf)

/** Makes a command of a request that proves the password of the channel. */
export const provenRequest = requestBy(proofOf)
