// Tools about the channels that a person bound to the assistant. Passwords never pass here: a
// person enters them on a page of the gateway.

import type { AssistantScope, Bindings, Grant } from '#domain/assistants'
import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Logger } from '#domain/telemetry'
import { factsOf } from '#src/acceptance/audit'
import type { Wire } from '#src/schemas/members'
import {
  BINDING_LIST_DATA,
  BIND_START_DATA,
  BIND_STATUS_DATA,
  BIND_STATUS_REQUEST,
  NO_ARGUMENTS,
  UNBIND_DATA,
  UNBIND_REQUEST,
  bindSessionToWire,
  bindStateToWire,
  bindingsToWire,
  readBindStatus,
  readUnbind,
} from '#src/schemas/binding-schemas'
import type { Call } from './call.ts'
import { ADDS, ENDS, READS } from './tool.ts'
import type { Tool } from './tool.ts'

const MANAGES: readonly AssistantScope[] = ['mcp:tools', 'mcp:channels:manage']
const NOT_FOUND = fault('channel_not_found')

/** Only for callers with a grant: without one nothing can be bound. */
export const channelTools = (bindings: Bindings, logger: Logger): readonly Tool[] => [
  {
    name: 'channel_list',
    title: 'List the Channels that you may use',
    description:
      'Lists the Channels that a person bound to you, and tells the present time. Call it before ' +
      'other tools.',
    body: NO_ARGUMENTS,
    output: BINDING_LIST_DATA,
    annotations: READS,
    scopes: ['mcp:tools'],
    call: granted(async (_fields, { grantId }, { receivedAtMs }) =>
      bindingsToWire({ bound: await bindings.ofGrant(grantId), nowMs: receivedAtMs }),
    ),
  },
  {
    name: 'channel_bind_start',
    title: 'Ask a person to bind a Channel',
    description:
      'Makes a page on which a person binds one more Channel to you. Give the url to the person, ' +
      'who enters the Channel and its password there; never ask for the password yourself. Then ' +
      'call channel_bind_status.',
    body: NO_ARGUMENTS,
    output: BIND_START_DATA,
    annotations: { ...ADDS, openWorldHint: false },
    scopes: MANAGES,
    call: granted(async (_fields, { grantId }) => bindSessionToWire(await bindings.start(grantId))),
  },
  {
    name: 'channel_bind_status',
    title: 'Check whether a Channel is bound',
    description: 'Tells whether the person has finished the page of channel_bind_start.',
    body: BIND_STATUS_REQUEST,
    output: BIND_STATUS_DATA,
    annotations: READS,
    scopes: MANAGES,
    call: granted(async (fields, { grantId }) => {
      const asked = readBindStatus(fields)
      if (isFault(asked)) return asked
      return bindStateToWire(await bindings.state(grantId, asked.bindSession))
    }),
  },
  {
    name: 'channel_unbind',
    title: 'Unbind a Channel',
    description: 'Gives up a Channel. Only a person can bind it to you again.',
    body: UNBIND_REQUEST,
    output: UNBIND_DATA,
    annotations: { ...ENDS, openWorldHint: false },
    scopes: MANAGES,
    call: granted(async (fields, { grantId }, { origin }) => {
      const asked = readUnbind(fields)
      if (isFault(asked)) return asked
      const { channelId } = asked
      const isUnbound = await bindings.unbind(grantId, channelId)
      if (!isUnbound) return NOT_FOUND
      logger.info('an assistant gave up a channel', { ...factsOf(origin), grantId, channelId })
      return { channel_id: channelId, unbound: true }
    }),
  },
]

type Fields = Readonly<Record<string, unknown>>
type Granted = (fields: Fields, grant: Grant, call: Call) => Promise<Answer<Wire>>

const granted =
  (use: Granted) =>
  async (fields: Fields, call: Call): Promise<Answer<Wire>> =>
    call.assistant.kind === 'grant' ? use(fields, call.assistant.grant, call) : NOT_FOUND
