// Input and output of the readers of submissions: message.ts, event.ts and thing.ts.

import { operationIdFrom } from '#domain/identity'
import type { DeviceKey, OperationId } from '#domain/identity'
import type { Submission } from '#domain/submission'

/** The parts of a submission that acceptance decides: its time and its random ids. */
export interface Making {
  readonly nowMs: number
  /** Returns 32 unguessable lower-case hex characters, new at each call. */
  readonly newHex32: () => string
  /** The op_id that the way in has made; absent for a new one. */
  readonly opId?: OperationId
}

/** The op_id of a submission whose sender chose none. */
export const opIdOf = ({ opId, nowMs, newHex32 }: Making): OperationId =>
  opId ?? operationIdFrom(nowMs, newHex32())

/**
 * A submission that passed every check of its form, and the password that must open its
 * channel.
 */
export interface ReadSubmission<Kind extends Submission = Submission> {
  readonly submission: Kind
  /** Trimmed, 8 to 128 bytes. A secret: never logged, never part of the submission. */
  readonly password: string
  /** In place of the password, which is '' then: a subscribed device. A secret, too. */
  readonly deviceKey?: DeviceKey
}

/** A new id in the form that `parse` checks. Throws when the source of randomness is defective. */
export function newId<Id>(parse: (text: string) => Id | undefined, { newHex32 }: Making): Id {
  const id = parse(newHex32())
  if (id === undefined) throw new TypeError('newHex32 must give 32 lower-case hex characters')
  return id
}
