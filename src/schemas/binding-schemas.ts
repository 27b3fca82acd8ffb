// The channels that a person bound to an assistant: requests, schemas and answers of its tools.

import { fault, isFault } from '#domain/fault'
import type { BindSession, BindState, Binding } from '#domain/assistants'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'

import type { Wire } from './answers.ts'
import { CREDENTIALS } from './credentials.ts'
import { given, object, whole, oneOf, requiredText } from './json-schema.ts'
import { shape } from './shape.ts'
import { readChannelId } from './values.ts'

export const NO_ARGUMENTS = object({}, [])

const BINDING = whole({
  channel_id: given('string', 'The Channel.'),
  channel_name: given('string', 'The name of the Channel.'),
  bound_at: given('integer', 'When a person bound it, in Unix milliseconds.'),
})

export const BINDING_LIST_DATA = whole({
  channels: { type: 'array', items: BINDING, description: 'Oldest binding first.' },
})

export const bindingsToWire = (bindings: readonly Binding[]): Wire => ({
  channels: bindings.map(({ channelId, channelName, boundAtMs }) => ({
    channel_id: channelId,
    channel_name: channelName,
    bound_at: boundAtMs,
  })),
})

export const BIND_START_DATA = whole({
  bind_session: given('string', 'Names the session; channel_bind_status takes it.'),
  url: given('string', 'The page for the person; good for one use.'),
  expires_at: given('integer', 'When the page ends, in Unix milliseconds.'),
})

export const bindSessionToWire = ({ bindSession, url, expiresAtMs }: BindSession): Wire => ({
  bind_session: bindSession,
  url,
  expires_at: expiresAtMs,
})

export const BIND_STATUS_REQUEST = whole({ bind_session: requiredText('From channel_bind_start.') })

export const BIND_STATUS_DATA = object(
  {
    state: oneOf(
      ['pending', 'bound', 'expired'],
      'pending: the person has not finished; expired: start anew.',
    ),
    channel_id: given('string', 'The Channel that was bound; only with state bound.'),
  },
  ['state'],
)

const bindStatusShape = shape(BIND_STATUS_REQUEST)

/** Returns the name of the session. */
export function readBindStatus(sent: unknown): Answer<string> {
  const body = bindStatusShape(sent)
  return isFault(body) ? body : body.bind_session.trim()
}

/** The state of a bind session; bind_session_not_found for one that the grant does not have. */
export function bindStateToWire(state: BindState): Answer<Wire> {
  if (state.kind === 'unknown') return fault('bind_session_not_found', { field: 'bind_session' })
  return state.kind === 'bound'
    ? { state: state.kind, channel_id: state.channelId }
    : { state: state.kind }
}

export const UNBIND_REQUEST = whole({ channel_id: CREDENTIALS.channel_id })

export const UNBIND_DATA = whole({
  channel_id: given('string', 'The Channel.'),
  unbound: given('boolean', 'True: the assistant can use the Channel no more.'),
})

const unbindShape = shape(UNBIND_REQUEST)

export function readUnbind(sent: unknown): Answer<ChannelId> {
  const body = unbindShape(sent)
  return isFault(body) ? body : readChannelId(body.channel_id)
}
