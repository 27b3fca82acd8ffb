// The route of what was refused of a channel, for whoever writes programs for it.

import { FAULTS } from '#domain/fault'
import type { FaultCode } from '#domain/fault'
import type { SubmissionModel } from '#domain/submission'
import { readingRequest } from '#src/schemas/credentials'
import { given, list, object, whole } from '#src/schemas/json-schema'
import { computed } from '#src/schemas/members'
import { KEYED, post, routes } from '#src/schemas/route'

/** Refusals of one kind, of the same submission for the same reason. In Unix milliseconds. */
export interface KeptRefusal {
  readonly model: SubmissionModel
  readonly action: string
  readonly code: FaultCode
  readonly detail?: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

const REFUSAL = object(
  {
    model: given('string', 'What was submitted: message, event, thing or rule.'),
    action: given('string', 'What it should do.'),
    error_code: computed(given('string', 'The code of the refusal.'), (of: KeptRefusal) => of.code),
    error: computed(
      given('string', 'The same as a sentence.'),
      ({ code }: KeptRefusal): string => FAULTS[code],
    ),
    detail: given('string', 'The member at fault, or what is wrong with it.'),
    count: given('integer', 'How often it was refused so.'),
    first_at: computed(given('integer', 'Unix milliseconds.'), (of: KeptRefusal) => of.firstAt),
    last_at: computed(given('integer', 'Unix milliseconds.'), (of: KeptRefusal) => of.lastAt),
  },
  ['model', 'action', 'error_code', 'error', 'count', 'first_at', 'last_at'],
)

export const REFUSALS = routes('Reading', 'Refusals', {
  list: post('/channel/refusals', 'List the refused submissions of a Channel of the last hour', {
    operation: 'listRefusals',
    request: readingRequest({}, []),
    data: whole({
      items: list(REFUSAL, 'Of the process that answers, the newest first; up to 32 kinds.'),
    }),
    codes: KEYED,
  }),
})
