// Arguments of the tools, and records for them to find.

import { parseChannelId, parseOperationId, parseThingId } from '#domain/identity'
import { CHANNEL, NOW_MS } from '#test/support/making'

/** The names of the channel, an event and a thing, with the times that calls need. */
export const ID = { channel_id: CHANNEL }
export const EVENT = { ...ID, event_id: 'e-1', event_time: NOW_MS }
export const THING = { ...ID, thing_id: 'pump', observed_at: NOW_MS }
/** A channel that is bound to no grant. */
export const OTHER_CHANNEL = 'P7K2M9QW4RD8ZT3VN6HB5YPC1G'

/** The record of an operation on the thing. */
export const OPERATION = {
  opId: parseOperationId('op-1') ?? never(),
  channelId: parseChannelId(CHANNEL) ?? never(),
  model: 'thing',
  entityId: parseThingId('pump') ?? never(),
  status: 'sent',
  acceptedAt: NOW_MS,
  updatedAt: NOW_MS,
} as const

/** The entry of the operation. */
export const ENTRY = {
  ...OPERATION,
  seq: 1,
  action: 'update',
  state: 'active',
  rev: 1,
  payload: '{}',
} as const

/** The record of a Message that was taken back. */
export const CANCELLED = {
  ...OPERATION,
  opId: parseOperationId('op-2') ?? never(),
  model: 'message',
  status: 'cancelled',
} as const

function never(): never {
  throw new Error('bad fixture')
}
