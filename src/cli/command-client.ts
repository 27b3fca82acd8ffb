// Makes a client for a command, and reports the gateway's answer; makes commands that send one
// request about a channel and print its answer.

import { createClient } from '#src/client/client'
import type { OperationRecord } from '#src/client/bodies'
import type { Client } from '#src/client/client'
import { HeliographError } from '#src/client/error'
import { WEB, pause } from '#src/client/runtime'
import { CHANNEL, accessOf, checkSecrecy, credentialsOf, proofOf } from './access.ts'
import type { Access, AccessGiven, ChannelGiven, Sources } from './access.ts'
import type { Command, Definition, Given, Options, Parameters, Taken } from './command.ts'
import { CommandError, EXIT, endingLine } from './endings.ts'
import { factLines } from './terminal-text.ts'
import type { ProcessContext } from './process-context.ts'

/** A client of the gateway that a command is about, and the output of its answers. */
export interface CommandClient {
  readonly client: Client
  readonly access: Access
  /** Prints the answer of the gateway: as JSON on one line, or as lines for a person. */
  readonly report: (answer: object) => void
}

/** A command that is silent for so long looks as if it hung. */
const NOTED_FROM_MS = 2_000

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
  const { after, fetch, terminal } = context
  const client = createClient({
    baseUrl,
    token,
    runtime: { ...WEB, after, fetch },
    onRepeat: ({ code, message }, delayMs) => {
      if (delayMs < NOTED_FROM_MS) return
      const hint = `next attempt in ${Math.ceil(delayMs / 1000)} s`
      terminal.printDiagnostic(endingLine({ code, message, hint }))
    },
  })
  return {
    client,
    access,
    report: (answer) => {
      const output = json ? [JSON.stringify(answer)] : factLines(answer)
      for (const line of output) terminal.print(line)
    },
  }
}

/**
 * Throws entity_not_found for what is not there: the gateway would make an Event or a Thing of the
 * id and end it at once. A key that may not read passes.
 */
export async function checkIsThere(read: Promise<unknown>): Promise<void> {
  try {
    await read
  } catch (error) {
    if (!(error instanceof HeliographError && error.code === 'key_scope')) throw error
  }
}

const POLL = { firstMs: 50, maxMs: 2_000 }
const DECIDED_WITHIN_S = 30

/** The record of an operation once it is over, by `isOver`, or after the time. */
export async function recordOf(
  { client, opId }: { readonly client: Client; readonly opId: string },
  {
    isOver,
    timeoutS,
  }: {
    readonly isOver: (record: OperationRecord) => boolean
    readonly timeoutS: number
  },
  context: ProcessContext,
): Promise<OperationRecord> {
  const endMs = context.monotonicMs() + timeoutS * 1000
  for (let delayMs = POLL.firstMs; ; delayMs *= 1.5) {
    const record = await client.status(opId)
    const leftMs = endMs - context.monotonicMs()
    if (isOver(record) || leftMs <= 0) return record
    await pause(context, Math.min(delayMs, POLL.maxMs, leftMs), undefined)
  }
}

const isDecided = ({ status }: OperationRecord): boolean =>
  status !== 'accepted' && status !== 'processing'

/** Waits until the channel has taken a change. Throws CommandError when it refused it. */
async function decided(client: Client, answer: object, context: ProcessContext): Promise<void> {
  if (!('op_id' in answer) || typeof answer.op_id !== 'string') return
  const asked = { client, opId: answer.op_id }
  const limits = { isOver: isDecided, timeoutS: DECIDED_WITHIN_S }
  const record = await recordOf(asked, limits, context)
  if (record.status === 'failed') {
    throw new CommandError(`nothing is changed: ${record.error_code ?? 'the change failed'}`)
  }
  if (isDecided(record)) return
  const hint = '`heliograph status <op_id> --wait` waits on'
  throw new CommandError(
    `${limits.timeoutS} s are over, and nothing is decided; ${hint}`,
    EXIT.timeout,
  )
}

interface RequestDefinition<
  Shown,
  Result extends object,
  Opts extends Options,
  Pars extends Parameters,
> extends Pick<Definition<Opts, Pars>, 'description' | 'examples' | 'parameters'> {
  /** Options beside those of the gateway and the channel. */
  readonly options?: Opts
  /** Throws UsageError for a value that cannot be sent, before anything is read or sent. */
  readonly check?: (
    values: ChannelGiven & Given<Opts> & Taken<Pars>,
    context: ProcessContext,
  ) => Promise<void> | void
  /** Sends the request. */
  readonly send: (
    asked: { readonly client: Client; readonly credentials: Shown },
    values: ChannelGiven & Given<Opts> & Taken<Pars>,
    context: ProcessContext,
  ) => Result | Promise<Result>
  /** True for a change that its channel may refuse behind the answer: waits for the decision. */
  readonly isDecidedLater?: true
  /** Prints what came of it, and may give an exit code; the answer itself is printed without it. */
  readonly show?: (
    result: Result,
    values: ChannelGiven & Given<Opts>,
    context: ProcessContext,
  ) => Promise<number | void>
}

const requestBy =
  <Shown>(credentialsIn: (values: ChannelGiven, sources: Sources) => Promise<Shown>) =>
  <
    Result extends object,
    Opts extends Options = Record<never, never>,
    Pars extends Parameters = Record<never, never>,
  >({
    options,
    check,
    send,
    show,
    isDecidedLater,
    ...words
  }: RequestDefinition<Shown, Result, Opts, Pars>): Command => ({
    ...words,
    options: { ...options, ...CHANNEL },
    run: async (values: ChannelGiven & Given<Opts> & Taken<Pars>, context: ProcessContext) => {
      await check?.(values, context)
      const { client, report } = await commandClientOf(values, context)
      const credentials = await credentialsIn(values, context)
      const result = await send({ client, credentials }, values, context)
      if (show !== undefined) return show(result, values, context)
      report(result)
      return isDecidedLater === true ? decided(client, result, context) : undefined
    },
  })

/** Makes a command of a request for which a key may stand in the place of the channel. */
export const channelRequest = requestBy(credentialsOf)

/** Makes a command of a request that proves the password of the channel. */
export const provenRequest = requestBy(proofOf)
