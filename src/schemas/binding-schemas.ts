// The channels that a person bound to an assistant: requests, schemas and answers of its tools.

import { fault } from '#domain/fault'
import type { BindSession, BindState, Binding } from '#domain/assistants'
import type { Answer } from '#domain/ports'

import { CREDENTIALS } from './credentials.ts'
import { given, object, whole, oneOf, requiredText } from './json-schema.ts'
import { computed, read, writerOf } from './members.ts'
import type { Wire } from './members.ts'
import { request } from './shape.ts'

export const NO_ARGUMENTS = object({}, [])

/** An assistant gets the time beside what is bound: it has no clock, and entries need times. */
interface Bound {
  readonly bound: readonly Binding[]
  readonly nowMs: number
}

export const BINDING_LIST_DATA = whole({
  channels: computed(
    {
      type: 'array',
      items: whole({
        channel_id: given('string', 'The Channel.'),
        channel_name: given('string', 'The name of the Channel.'),
        bound_at: computed(
          given('integer', 'When a person bound it, in Unix milliseconds.'),
          ({ boundAtMs }: Binding) => boundAtMs,
        ),
      }),
      description: 'Oldest binding first.',
    },
    ({ bound }: Bound) => bound,
  ),
  now: computed(
    given('integer', 'The present time, in Unix milliseconds.'),
    ({ nowMs }: Bound) => nowMs,
  ),
})

export const bindingsToWire = writerOf(BINDING_LIST_DATA)

export const BIND_START_DATA = whole({
  bind_session: given('string', 'Names the session; channel_bind_status takes it.'),
  url: given('string', 'The page for the person; good for one use.'),
  expires_at: computed(
    given('integer', 'When the page ends, in Unix milliseconds.'),
    ({ expiresAtMs }: BindSession) => expiresAtMs,
  ),
})

export const bindSessionToWire = writerOf(BIND_START_DATA)

export const BIND_STATUS_REQUEST = whole({
  bind_session: read(requiredText('From channel_bind_start.'), (sent) => sent.trim()),
})

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

export const readBindStatus = request(BIND_STATUS_REQUEST)

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

export const readUnbind = request(UNBIND_REQUEST)
