// The routes of rules. The form of a rule itself is read by src/rules, which words its first fault.

import { CREDENTIALS } from '#src/schemas/credentials'
import { ENTITY_ID } from '#src/schemas/fields/submission-fields'
import { given, object, requiredText, time } from '#src/schemas/json-schema'
import { ENTITY_ID_FORM, trimmed } from '#src/schemas/patterns'
import { PAGE } from '#src/schemas/reading-schemas'
import { KEYED, routes } from '#src/schemas/route'
import { SUBMITTING, accepted } from '#src/schemas/submission-schemas'

const RULE_ID = {
  rule_id: requiredText(`The rule: ${ENTITY_ID}`, trimmed(ENTITY_ID_FORM)),
} as const

const RULE = {
  rule: {
    type: 'object',
    required: ['things', 'when'],
    additionalProperties: { $ref: '#/components/schemas/Json' },
    description:
      'What to watch and what to do: things, when, and event or message; for, clear, clear_for, ' +
      'title and enabled may be left out. At most 16 KiB. docs/rules.md has every form.',
  },
} as const

const RULE_DATA = object(
  {
    rule_id: given('string', 'The rule.'),
    rule: { type: 'object', description: 'As it was put.' },
    since: given('integer', 'When its present things and when began, in Unix milliseconds.'),
    created_at: given('integer', 'When it was put first, in Unix milliseconds.'),
    updated_at: given('integer', 'When it was put last, in Unix milliseconds.'),
    failures: given('integer', 'Evaluations that failed on a value.'),
    last_failure: given('string', 'Why the last one failed; left out before the first one.'),
  },
  ['rule_id', 'rule', 'since', 'created_at', 'updated_at', 'failures'],
)

const FIRING_DATA = object(
  {
    thing_id: given('string', 'The Thing.'),
    title: given('string', 'The title of the Event or the Message.'),
    severity: given('string', 'Its severity when it fired.'),
    since: given('integer', 'When the condition began to hold, in Unix milliseconds.'),
    fired_at: given('integer', 'When it would have fired, in Unix milliseconds.'),
    cleared_at: given('integer', 'When it would have cleared; left out while it fires.'),
  },
  ['thing_id', 'title', 'severity', 'since', 'fired_at'],
)

export const RULE_ROUTES = routes('Rules', {
  '/rule/put': {
    summary: 'Put a rule that watches Things',
    request: object({ ...CREDENTIALS, ...RULE_ID, ...RULE }, [
      'channel_id',
      'password',
      'rule_id',
      'rule',
    ]),
    data: accepted('rule_id'),
    codes: SUBMITTING,
  },
  '/rule/delete': {
    summary: 'Delete a rule, and close its Events',
    request: object({ ...CREDENTIALS, ...RULE_ID }, ['channel_id', 'password', 'rule_id']),
    data: accepted('rule_id'),
    codes: SUBMITTING,
  },
  '/rule/get': {
    summary: 'Read a rule',
    request: object({ ...CREDENTIALS, ...RULE_ID }, ['channel_id', 'password', 'rule_id']),
    data: RULE_DATA,
    codes: [...KEYED, 'rule_not_found'],
  },
  '/rule/list': {
    summary: 'List the rules of a Channel',
    request: object({ ...CREDENTIALS, ...PAGE }, ['channel_id', 'password']),
    data: object(
      {
        items: { type: 'array', items: RULE_DATA, description: 'In the order of their ids.' },
        next_cursor: given('string', 'Where the next page begins; left out on the last one.'),
      },
      ['items'],
    ),
    codes: [...KEYED, 'invalid_cursor'],
  },
  '/rule/test': {
    summary: 'Run a rule over the kept history, without effect',
    request: object(
      {
        ...CREDENTIALS,
        ...RULE,
        from: time('Leaves out what would have fired before.'),
        to: time('Leaves out what was accepted later; now when absent.'),
      },
      ['channel_id', 'password', 'rule'],
    ),
    data: object(
      {
        firings: { type: 'array', items: FIRING_DATA, description: 'In the order of their times.' },
        entries: given('integer', 'Entries of the feed that were read.'),
        complete: given(
          'boolean',
          'False when the history or the rule is more than one test takes.',
        ),
      },
      ['firings', 'entries', 'complete'],
    ),
    codes: [...KEYED, 'invalid_timestamp'],
  },
})
