// Types the submissions of a fleet sender, and has the rules of their order and repeats.

import type * as Wire from './bodies.ts'
import type { Client } from './client.ts'

/** A submission; `tag` is a value of the caller, who gets it with the outcome. */
export type FleetSubmission<Tag = unknown> = { readonly tag?: Tag } & (
  | { readonly model: 'message'; readonly action: 'send'; readonly body: Wire.MessageBody }
  | { readonly model: 'event'; readonly action: 'create'; readonly body: Wire.EventCreateBody }
  | { readonly model: 'event'; readonly action: 'update'; readonly body: Wire.EventUpdateBody }
  | { readonly model: 'event'; readonly action: 'close'; readonly body: Wire.EventCloseBody }
  | { readonly model: 'thing'; readonly action: 'create'; readonly body: Wire.ThingCreateBody }
  | {
      readonly model: 'thing'
      readonly action: 'update' | 'archive'
      readonly body: Wire.ThingUpdateBody
    }
  | { readonly model: 'thing'; readonly action: 'delete'; readonly body: Wire.ThingDeleteBody }
)

/** The ids of an accepted submission. */
export type FleetAccepted = Wire.AcceptedMessage | Wire.AcceptedEvent | Wire.AcceptedThing

/** Submits once. */
export function submitOnce(client: Client, submission: FleetSubmission): Promise<FleetAccepted> {
  const options = { repeat: false }
  const { message, event, thing } = client
  if (submission.model === 'message') return message.send(submission.body, options)
  if (submission.model === 'event') {
    if (submission.action === 'create') return event.create(submission.body, options)
    if (submission.action === 'update') return event.update(submission.body, options)
    return event.close(submission.body, options)
  }
  if (submission.action === 'create') return thing.create(submission.body, options)
  if (submission.action === 'delete') return thing.delete(submission.body, options)
  if (submission.action === 'update') return thing.update(submission.body, options)
  return thing.archive(submission.body, options)
}

/**
 * The key of the submissions that keep their order: those of one Event, and those of one Thing with
 * the Messages about it. Undefined for one without an order.
 */
export function orderKeyOf({ body }: FleetSubmission): string | undefined {
  // A key stands for its channel.
  const { password, channel_id = password } = body
  if ('event_id' in body) return `${channel_id} event ${body.event_id}`
  if ('thing_id' in body && body.thing_id !== undefined) return `${channel_id} ${body.thing_id}`
  return undefined
}

/**
 * Returns a Message an op_id where it has none: the gateway then takes a repeat for the same
 * Message. (docs/decisions.md 6)
 */
export function repeatable<Tag>(
  submission: FleetSubmission<Tag>,
  makeOpId: () => string,
): FleetSubmission<Tag> {
  if (submission.model !== 'message' || submission.body.op_id !== undefined) return submission
  return { ...submission, body: { ...submission.body, op_id: makeOpId() } }
}
