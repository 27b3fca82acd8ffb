// The routes of dead letters, for the operator of the gateway. (W6)

import { given, list, object, whole } from '#src/schemas/json-schema'
import type { KeptDeadLetter } from '#domain/operator/dead-letters'
import { computed, read } from '#src/schemas/members'
import { PAGE, nextCursor } from '#src/schemas/paging'
import { operatorPost, routes } from '#src/schemas/route'
import { invalid, readWhole } from '#src/schemas/values'

const ID_RULE = 'The number of the dead letter.'

const DEAD_LETTER = whole({
  dead_letter_id: computed(given('integer', ID_RULE), ({ id }: KeptDeadLetter) => id),
  lane: given('integer', 'The lane that it was accepted into.'),
  payload: given('string', 'The submission, as the log had it.'),
  error: given('string', 'Why it was set aside.'),
  at: given('integer', 'When it was accepted, in Unix milliseconds.'),
})

export const DEAD_LETTERS = routes('Gateway', 'DeadLetter', {
  list: operatorPost('/dead-letter/list', 'List submissions that were set aside', {
    operation: 'listDeadLetters',
    request: object(PAGE, []),
    data: object(
      {
        items: list(DEAD_LETTER, 'Oldest first.'),
        next_cursor: nextCursor('Where the next page begins; left out on the last one.'),
      },
      ['items'],
    ),
    codes: ['invalid_cursor'],
  }),
  retry: operatorPost('/dead-letter/retry', 'Try a submission again that was set aside', {
    request: whole({
      dead_letter_id: read(
        {
          type: ['integer', 'string'],
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: ID_RULE,
        },
        (sent, field) => readWhole(sent) || invalid(field, ID_RULE),
        'id',
      ),
    }),
    data: whole({ op_id: given('string', 'The operation of the new attempt.') }),
    codes: ['dead_letter_not_found', 'dead_letter_unreadable', 'submission_not_accepted'],
  }),
})
