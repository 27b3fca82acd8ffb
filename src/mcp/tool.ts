// A tool: its description for a model, and the call of the acceptance stage behind it.

import type { ToolAnnotations } from '@modelcontextprotocol/server'

import type { AssistantScope } from '#domain/assistants'
import type { Answer } from '#domain/ports'
import type { Wire } from '#src/schemas/answers'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import type { Call } from './call.ts'

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
  call(fields: Readonly<Record<string, unknown>>, call: Call): Promise<Answer<Wire>>
}

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
