// A tool: its description for a model, and the call of the acceptance stage behind it.

import type { ToolAnnotations } from '@modelcontextprotocol/server'

import type { AssistantScope } from '#domain/assistants'
import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Caller } from '#src/acceptance/caller'
import type { Wire } from '#src/schemas/members'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import type { Call } from './call.ts'

type Fields = Readonly<Record<string, unknown>>

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  /** The body that the same route of HTTP takes; toolInput makes the schema of it. */
  readonly body: ObjectSchema
  readonly output: JsonSchema
  readonly annotations: ToolAnnotations
  /** The scopes that its caller's token needs. */
  readonly scopes: readonly AssistantScope[]
  /** `fields` are the arguments, of which none is unknown. Rejects as the store does. */
  call(fields: Fields, call: Call): Promise<Answer<Wire>>
}

/** A route as a tool takes it over: the arguments are its body. */
export interface TakenOver<Value> {
  readonly request: ObjectSchema
  readonly data: JsonSchema
  readonly write: (value: Value) => Wire
}

/** Returns what a tool has of a route, and its call of the acceptance stage behind that route. */
export const overRoute = <Value>(
  { request: body, data: output, write }: TakenOver<Value>,
  ask: (fields: Fields, caller: Caller) => Answer<NoInfer<Value>> | Promise<Answer<NoInfer<Value>>>,
): Pick<Tool, 'body' | 'output' | 'scopes' | 'call'> => ({
  body,
  output,
  scopes: ['mcp:tools'],
  call: async (fields, call) => {
    const answer = await ask(fields, await call.caller())
    return isFault(answer) ? answer : write(answer)
  },
})

/** For a tool that changes nothing. */
export const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: false }
/** For a tool that adds something with each call. */
export const ADDS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
}
/** For a tool that sets values: the same call again changes nothing. */
export const SETS: ToolAnnotations = { ...ADDS, idempotentHint: true }
/** For a tool that ends something for good: the same call again changes nothing. */
export const ENDS: ToolAnnotations = { ...SETS, destructiveHint: true }
