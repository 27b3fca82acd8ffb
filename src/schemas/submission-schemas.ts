// What the routes of Messages, Events and Things share. A schema names the members that its route
// reads or refuses; every other member is ignored. (Specification: Resources and their fields)

import { OPERATION_STATUSES } from '#domain/operation'
import type { Operation } from '#domain/operation'
import { SUBMISSION_MODELS } from '#domain/submission'
import type { EventAction, ThingAction } from '#domain/submission'

import { acceptedToWire } from './answers.ts'
import { forbidden, given, named, object, oneOf } from './json-schema.ts'
import { computed, written } from './members.ts'
import { KEYED, get, routes } from './route.ts'

/** A member of Events and Things. */
export const OP_ID = forbidden('The gateway makes the op_id.')

/** The data of the answer to a submission. */
export const accepted = <const Noun extends string>(noun: Noun) => {
  const idName = `${noun.toLowerCase()}_id` as `${Lowercase<Noun>}_id`
  return written(
    named(
      `Accepted${noun}`,
      object(
        {
          op_id: given('string', 'The operation; GET /send_status/{op_id} gives its status.'),
          [idName]: given('string', 'The entity that this submission makes or changes.'),
        } as { readonly [Name in typeof idName | 'op_id']: ReturnType<typeof given<'string'>> },
        ['op_id', idName],
      ),
    ),
    acceptedToWire,
  )
}

/** The codes of every submission. */
export const SUBMITTING = [
  ...KEYED,
  'invalid_timestamp',
  'submission_not_accepted',
  'submission_outcome_unknown',
] as const

export const VERB: Readonly<Record<EventAction | ThingAction, string>> = {
  create: 'Create',
  update: 'Update',
  close: 'Close',
  archive: 'Archive',
  delete: 'Delete',
}

/** What changes with each submission to an Event or a Thing. */
export const REVISION = {
  rev: given('integer', 'Grows by one with each change.'),
  seq: given('integer', 'The feed entry of the last change.'),
  changed_at: given('integer', 'When the gateway accepted the last change, in Unix milliseconds.'),
} as const

/** The record of an operation. */
export const OPERATION_DATA = named(
  'Operation',
  object(
    {
      op_id: given('string', 'The operation.'),
      status: oneOf(OPERATION_STATUSES, 'The progress of the operation; it only moves forward.'),
      model: oneOf(SUBMISSION_MODELS, 'The model of the submission.'),
      entity_id: given('string', 'The Message, Event or Thing.'),
      accepted_at: given(
        'integer',
        'Unix milliseconds; of a scheduled Message the time at which it enters the feed.',
      ),
      updated_at: given('integer', 'Unix milliseconds.'),
      expires_at: given('integer', 'Unix milliseconds; afterwards the record is gone.'),
      error_code: computed(
        given('string', 'Why the submission failed; only with status failed.'),
        ({ status, errorCode }: Operation) => (status === 'failed' ? errorCode : undefined),
      ),
    },
    ['op_id', 'status', 'model', 'entity_id', 'accepted_at', 'updated_at', 'expires_at'],
  ),
)

export const STATUS = routes('Submissions', 'Operation', {
  find: get('/send_status/{op_id}', 'Get the status of an operation', {
    operation: 'getOperation',
    data: OPERATION_DATA,
    codes: ['send_status_not_found'],
  }),
})
