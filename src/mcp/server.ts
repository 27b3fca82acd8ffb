// The protocol's server object: one for each request, for the surface keeps no session.

import { McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { CallToolResult, StandardSchemaWithJSON } from '@modelcontextprotocol/server'

import { isFault } from '#domain/fault'
import type { Fault, FaultCode } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Wire } from '#src/schemas/members'
import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { toolInput, unknownArgument } from '#src/schemas/document/tool-schemas'
import type { CallCredential } from '#src/schemas/document/tool-schemas'
import type { Call } from './call.ts'
import { TEMPLATES } from './resources.ts'
import type { Resources } from './resources.ts'
import type { Tool } from './tool.ts'
import { lineOf } from '#src/refusals/refusal'

/** The supported revisions of the protocol, newest first. (docs/decisions.md 15) */
export const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18']

export interface ServerParts {
  readonly version: string
  readonly tools: readonly Tool[]
  readonly resources: Resources
  /** Called for each tool call, with its refusal if it was refused. */
  readonly called: (tool: string, refusal: Fault | undefined) => void
  /** Returns the refusal for a rejected call, and reports the call. */
  readonly refusalOf: (tool: string, error: unknown) => Fault
}

/** A tool with its schemas as the protocol's library takes them. */
interface Listed {
  readonly tool: Tool
  readonly input: ObjectSchema
  readonly inputSchema: StandardSchemaWithJSON<Wire>
  readonly outputSchema: StandardSchemaWithJSON<Wire>
}

const INSTRUCTIONS: Readonly<Record<CallCredential, string>> = {
  grant:
    'Sends notifications to the devices of people and keeps the state of Things. Begin with ' +
    'channel_list, which tells the present time, too. When no Channel is bound, call ' +
    'channel_bind_start and give its url to the person; never ask a person for a Channel password.',
  password:
    'Sends notifications to the devices of people and keeps the state of Things. Each call needs ' +
    'channel_id and password of a Channel; the person knows them.',
}

/** Makes the servers of one opening, which decides the tools and their arguments. */
export function serverFactory(
  opening: CallCredential,
  parts: ServerParts,
): (call: Call) => McpServer {
  const listed = parts.tools.map((tool) => listedTool(tool, opening))
  return (call) => {
    const server = new McpServer(
      { name: 'heliograph', title: 'Heliograph', version: parts.version },
      {
        supportedProtocolVersions: REVISIONS,
        instructions: INSTRUCTIONS[opening],
        capabilities: {
          tools: { listChanged: false },
          ...(opening === 'grant' && { resources: { listChanged: false, subscribe: false } }),
        },
      },
    )
    for (const { tool, input, ...schemas } of listed) {
      const { name, title, description, annotations } = tool
      server.registerTool(name, { title, description, annotations, ...schemas }, (sent) =>
        run({ tool, input, sent, call }, parts),
      )
    }
    if (opening === 'grant') addResources(server, parts, call)
    return server
  }
}

function listedTool(tool: Tool, opening: CallCredential): Listed {
  const input = toolInput(tool.body, opening)
  return { tool, input, inputSchema: schemaOf(input), outputSchema: schemaOf(tool.output) }
}

/**
 * Shows the schema and lets every object pass: the acceptance stage checks arguments, as for every
 * other way in, and the gateway itself makes the results.
 */
function schemaOf(schema: JsonSchema): StandardSchemaWithJSON<Wire> {
  const json = (): Record<string, unknown> => schema
  return {
    '~standard': {
      version: 1,
      vendor: 'heliograph',
      validate: (value) => ({ value: value as Wire }),
      jsonSchema: { input: json, output: json },
    },
  }
}

interface Running {
  readonly tool: Tool
  readonly input: ObjectSchema
  readonly sent: Wire
  readonly call: Call
}

/** Never rejects: the library would tell the model the text of the error. */
async function run(
  { tool, input, sent, call }: Running,
  { called, refusalOf }: ServerParts,
): Promise<CallToolResult> {
  const answer = await orRefusal(
    async () => unknownArgument(input, sent) ?? (await tool.call(sent, call)),
    (error) => refusalOf(tool.name, error),
  )
  called(tool.name, isFault(answer) ? answer : undefined)
  if (isFault(answer)) {
    return { isError: true, content: [{ type: 'text', text: refusalText(answer, call.opening) }] }
  }
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: { ...answer },
  }
}

async function orRefusal<Value>(
  job: () => Promise<Answer<Value>>,
  refusalFor: (error: unknown) => Fault,
): Promise<Answer<Value>> {
  try {
    return await job()
  } catch (error) {
    return refusalFor(error)
  }
}

function addResources(
  { server }: McpServer,
  { resources, refusalOf }: ServerParts,
  call: Call,
): void {
  const orThrow = async <Value>(uri: string, job: () => Promise<Answer<Value>>): Promise<Value> => {
    const answer = await orRefusal(job, (error) => refusalOf('resources', error))
    if (isFault(answer)) throw protocolError(answer, uri, call.opening)
    return answer
  }
  server.setRequestHandler('resources/list', ({ params }) =>
    orThrow('', () => resources.list(params?.cursor, call)),
  )
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }))
  server.setRequestHandler('resources/read', ({ params }) =>
    orThrow(params.uri, () => resources.read(params.uri, call)),
  )
}

/** A channel that is not bound is no resource, whether it exists or not. */
function protocolError(refusal: Fault, uri: string, opening: CallCredential): ProtocolError {
  const { code } = refusal
  if (code === 'entity_not_found' || code === 'channel_not_found') {
    return new ResourceNotFoundError(uri)
  }
  const isTheirs = code === 'invalid_cursor' || code === 'invalid_channel_id'
  const kind = isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError
  return new ProtocolError(kind, refusalText(refusal, opening), { error_code: code })
}

const AGAIN = 'Wait, then call again with the same arguments.'

const STEPS: Readonly<Partial<Record<FaultCode, string>>> = {
  op_id_payload_conflict: 'Send another message with another op_id.',
  op_id_scope_conflict: 'Send another message with another op_id.',
  entity_not_found: 'Call thing_list or event_list for what the Channel has.',
  invalid_cursor: 'Call again without cursor for the first page.',
  send_status_not_found: 'Use the op_id that a submission returned; records expire.',
  bind_session_not_found: 'Call channel_bind_start for a new page.',
  op_id_not_allowed: 'Leave op_id out.',
  key_expired: 'Ask the person for another key.',
  key_scope: 'Keep to what the key allows, or ask the person for another one.',
  rate_limited: AGAIN,
  server_busy: AGAIN,
  submission_not_accepted: AGAIN,
  submission_outcome_unknown:
    'It may have been accepted. Call again with the same arguments only if they hold an op_id or ' +
    'a repeat does no harm; otherwise tell the person.',
  internal_error: 'Tell the person that the gateway failed, and that its operator can see why.',
}

const OTHERWISE = 'Correct the arguments and call again.'

const CHANNEL: Readonly<Record<CallCredential, string>> = {
  grant: 'Call channel_list for the Channels that you may use, or channel_bind_start for another.',
  password: 'Ask the person for the Channel and its password.',
}

/** Code, sentence, and the step that can help: one line of text. */
function refusalText(fault: Fault, opening: CallCredential): string {
  const { code, retryAfterMs } = fault
  const step = code === 'channel_not_found' ? CHANNEL[opening] : (STEPS[code] ?? OTHERWISE)
  const wait = retryAfterMs === undefined ? '' : ` Wait ${Math.ceil(retryAfterMs / 1000)} s.`
  return `${code}: ${lineOf(fault)}. ${step}${wait}`
}
