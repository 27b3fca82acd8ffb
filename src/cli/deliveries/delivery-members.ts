// The members of a delivery: under their names it is written as JSON, filled into templates and
// handed to shell commands.

import type { Json } from '#domain/submission'
import type { Delivery } from '#src/schemas/frames'

/** A delivery, with the name of its channel. */
export interface Named {
  readonly delivery: Delivery
  readonly channelName: string
  /** The decrypted ciphertext of the delivery. */
  readonly plaintext?: string
}

export type Member = (named: Named) => Json | undefined

/** By the names of the session protocol; undefined for what a delivery does not have. */
export const MEMBERS = {
  channel_id: ({ delivery }) => delivery.channelId,
  channel_name: ({ channelName }) => channelName,
  seq: ({ delivery }) => delivery.seq,
  delivery_id: ({ delivery }) => delivery.deliveryId,
  op_id: ({ delivery }) => delivery.opId,
  model: ({ delivery }) => delivery.model,
  action: ({ delivery }) => delivery.action,
  entity_id: ({ delivery }) => delivery.entityId,
  state: ({ delivery }) => delivery.state,
  rev: ({ delivery }) => delivery.rev,
  accepted_at: ({ delivery }) => delivery.acceptedAt,
  replay: ({ delivery }) => delivery.replay || undefined,
  payload: ({ delivery }) => delivery.payload,
  plaintext: ({ plaintext }) => plaintext,
} satisfies Readonly<Record<string, Member>>

export const membersOf = (named: Named): Readonly<Record<string, Json | undefined>> =>
  Object.fromEntries(Object.entries(MEMBERS).map(([name, of]) => [name, of(named)]))

/** A delivery as one line of JSON. */
export const deliveryJson = (named: Named): string => JSON.stringify(membersOf(named))
