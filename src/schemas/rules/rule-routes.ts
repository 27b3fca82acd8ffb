// The routes of rules. The form of a rule itself is read by src/rules, which words its first fault.

import { parseRuleId } from '#domain/identity'
import type { ListedRule } from '#domain/rules/stored'
import type { Fields } from '#domain/submission'
import { CREDENTIALS } from '#src/schemas/credentials'
import { ENTITY_ID } from '#src/schemas/fields/submission-fields'
import { given, list, named, object, requiredText, time, whole } from '#src/schemas/json-schema'
import { computed, read } from '#src/schemas/members'
import { PAGE, nextCursor } from '#src/schemas/paging'
import { ENTITY_ID_FORM, trimmed } from '#src/schemas/patterns'
import { KEYED, post, routes } from '#src/schemas/route'
import { RULE_FORM } from './rule-form.ts'
import { SUBMITTING, accepted } from '#src/schemas/submission-schemas'
import { ENTITY_ID_RULE, invalid, readParsed, readTime, readTo } from '#src/schemas/values'

const FORM = { parse: parseRuleId, rule: ENTITY_ID_RULE }

const RULE_ID = {
  rule_id: read(
    requiredText(`The rule: ${ENTITY_ID}`, trimmed(ENTITY_ID_FORM)),
    (sent, field) => readParsed(field, sent, FORM) ?? invalid(field, ENTITY_ID_RULE),
  ),
} as const

/** Its type is that of any object: the reader of rules says by its path what is wrong with one. */
const RULE: { readonly rule: { readonly type: 'object' } } = { rule: RULE_FORM as never }

const RULE_DATA = named(
  'Rule',
  object(
    {
      rule_id: given('string', 'The rule.'),
      rule: computed(
        { type: 'object', description: 'As it was put.' },
        ({ text }: ListedRule) => JSON.parse(text) as Fields,
      ),
      since: given('integer', 'When its present things and when began, in Unix milliseconds.'),
      created_at: given('integer', 'When it was put first, in Unix milliseconds.'),
      updated_at: given('integer', 'When it was put last, in Unix milliseconds.'),
      failures: computed(
        given('integer', 'Evaluations that failed on a value.'),
        ({ failures }: ListedRule) => failures.count,
      ),
      last_failure: computed(
        given('string', 'Why the last one failed; left out before the first one.'),
        ({ failures }: ListedRule) => failures.last,
      ),
    },
    ['rule_id', 'rule', 'since', 'created_at', 'updated_at', 'failures'],
  ),
)

interface Firing {
  readonly unanswered?: {
    readonly remindedAt: readonly number[]
    readonly escalated: readonly { readonly level: number; readonly at: number }[]
  }
}

const atLeastOne = <Item>(items: readonly Item[] | undefined) =>
  items === undefined || items.length === 0 ? undefined : items

const FIRING_DATA = named(
  'RuleFiring',
  object(
    {
      thing_id: given('string', 'The Thing.'),
      title: given('string', 'The title of the Event or the Message.'),
      severity: given('string', 'Its severity when it fired.'),
      since: given('integer', 'When the condition began to hold, in Unix milliseconds.'),
      fired_at: given('integer', 'When it would have fired, in Unix milliseconds.'),
      cleared_at: given('integer', 'When it would have cleared; left out while it fires.'),
      reminded_at: computed(
        list({ type: 'integer' }, 'Its reminders, had nobody acknowledged the Event.'),
        ({ unanswered }: Firing) => atLeastOne(unanswered?.remindedAt),
      ),
      escalated: computed(
        list(
          whole({
            level: given('integer', 'The level.'),
            at: given('integer', 'Unix milliseconds.'),
          }),
          'Its escalations, had nobody acknowledged the Event.',
        ),
        ({ unanswered }: Firing) => atLeastOne(unanswered?.escalated),
      ),
    },
    ['thing_id', 'title', 'severity', 'since', 'fired_at'],
  ),
)

/** The submissions that change rules. */
export const RULE_CHANGE = routes('Rules', 'Rule', {
  put: post('/rule/put', 'Put a rule that watches Things', {
    request: whole({ ...CREDENTIALS, ...RULE_ID, ...RULE }),
    data: accepted('Rule'),
    codes: SUBMITTING,
  }),
  delete: post('/rule/delete', 'Delete a rule, and close its Events', {
    request: whole({ ...CREDENTIALS, ...RULE_ID }),
    data: accepted('Rule'),
    codes: SUBMITTING,
  }),
})

export const RULE_READING = routes('Rules', 'Rule', {
  get: post('/rule/get', 'Read a rule', {
    request: whole({ ...CREDENTIALS, ...RULE_ID }),
    data: RULE_DATA,
    codes: [...KEYED, 'rule_not_found'],
  }),
  list: post('/rule/list', 'List the rules of a Channel', {
    operation: 'listRules',
    request: object({ ...CREDENTIALS, ...PAGE }, ['channel_id', 'password']),
    data: object(
      {
        items: list(RULE_DATA, 'In the order of their ids.'),
        next_cursor: nextCursor('Where the next page begins; left out on the last one.'),
      },
      ['items'],
    ),
    codes: [...KEYED, 'invalid_cursor'],
  }),
  test: post('/rule/test', 'Run a rule over the kept history, without effect', {
    request: object(
      {
        ...CREDENTIALS,
        ...RULE,
        from: read(time('Leaves out what would have fired before.'), (sent, field) =>
          readTime(field, sent),
        ),
        to: read(time('Leaves out what was accepted later; now when absent.'), readTo),
      },
      ['channel_id', 'password', 'rule'],
    ),
    data: whole({
      firings: list(FIRING_DATA, 'In the order of their times.'),
      entries: given('integer', 'Entries of the feed that were read.'),
      complete: computed(
        given('boolean', 'False when the history or the rule is more than one test takes.'),
        ({ isComplete }: { readonly isComplete: boolean }) => isComplete,
      ),
    }),
    codes: [...KEYED, 'invalid_timestamp'],
  }),
})
