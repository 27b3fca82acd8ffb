// The form of a rule, for the OpenAPI document. The reader decides (src/rules/read-rule.ts); what
// no schema says stands in the descriptions: the nesting of conditions, the order of two bounds,
// and the content of an expression.

import { SEVERITIES } from '#domain/submission'
import { STEPS_MAX } from '#src/rules/escalation'
import * as limits from '#src/rules/limits'
import { STEP } from '#src/schemas/fields/field-schemas'
import { named, object, oneOf } from '#src/schemas/json-schema'
import type { JsonSchema, Properties } from '#src/schemas/json-schema'
import {
  DURATION_FORM,
  ENTITY_ID_FORM,
  REMINDER_FORM,
  SOME_TEXT,
  exactly,
} from '#src/schemas/patterns'

/** An object that has no other members. */
const closed = (properties: Properties, required: readonly string[] = []): JsonSchema => ({
  ...object(properties, required),
  additionalProperties: false,
})

const text = (maxLength: number, description?: string): JsonSchema => ({
  type: 'string',
  pattern: SOME_TEXT,
  maxLength,
  ...(description !== undefined && { description }),
})

const duration = (description: string, form = DURATION_FORM): JsonSchema => ({
  type: 'string',
  pattern: exactly(form),
  description,
})

const some = (items: JsonSchema, maxItems: number, description: string): JsonSchema => ({
  type: 'array',
  minItems: 1,
  maxItems,
  items,
  description,
})

const NUMBER = { type: 'number' } as const
const SCALAR = { type: ['string', 'number', 'boolean'] } as const
const THING_ID = { type: 'string', pattern: exactly(ENTITY_ID_FORM) } as const

const THINGS: JsonSchema = {
  description: '"all", or an object with exactly one of ids, prefix and tag.',
  anyOf: [
    { type: 'string', enum: ['all'] },
    {
      ...closed({
        ids: some(THING_ID, limits.IDS_MAX, 'Their ids.'),
        prefix: THING_ID,
        tag: text(limits.TITLE_MAX),
      }),
      minProperties: 1,
      maxProperties: 1,
    },
  ],
}

/** By its name, as conditions hold conditions. */
const CONDITION: JsonSchema = { $ref: '#/components/schemas/RuleCondition' }
const CONDITIONS = some(CONDITION, limits.PARTS_MAX, `Nested at most ${limits.DEPTH_MAX} deep.`)

const NAME = { type: 'string', maxLength: limits.NAME_MAX } as const

const ATTR: JsonSchema = {
  description: 'The name of an attr, or the names that lead to a value within objects.',
  anyOf: [NAME, some(NAME, limits.DEPTH_MAX, 'Names.')],
}

const BOUNDS = {
  type: 'array',
  minItems: 2,
  maxItems: 2,
  items: NUMBER,
  description: '[low, high], with low not above high.',
} as const

const TEST_FORMS: Readonly<Record<(typeof limits.TESTS)[number], JsonSchema>> = {
  above: NUMBER,
  below: NUMBER,
  outside: BOUNDS,
  inside: BOUNDS,
  equals: SCALAR,
  not_equals: SCALAR,
  absent: { const: true },
}

const OTHER_FORMS: Properties = {
  silent: duration('For how long no update of the Thing was accepted.'),
  all: CONDITIONS,
  any: CONDITIONS,
  not: CONDITION,
  cel: text(limits.EXPRESSION_MAX, 'An expression of the Common Expression Language.'),
}

/**
 * Its forms are cases, none of which has other members. Generators make a map of it: some languages
 * have no member `equals`, or no type for one that has several.
 */
export const RULE_CONDITION: JsonSchema = {
  type: 'object',
  description: 'An attr with exactly one test, or one of silent, all, any, not and cel.',
  anyOf: [
    ...Object.entries(TEST_FORMS).map(([name, form]) =>
      closed({ attr: ATTR, [name]: form }, ['attr', name]),
    ),
    ...Object.entries(OTHER_FORMS).map(([name, form]) => closed({ [name]: form }, [name])),
  ],
}

const SEVERITY = oneOf(SEVERITIES, 'normal when left out.')

const SHARED = {
  title: text(limits.TITLE_MAX, 'Values stand in braces: {attr}, {thing.title}.'),
  severity: SEVERITY,
  tags: some(text(limits.TAG_MAX), limits.TAGS_MAX, 'Its tags.'),
  metadata: {
    type: 'object',
    propertyNames: { minLength: 1, maxLength: limits.METADATA_KEY_MAX },
    maxProperties: limits.METADATA_MAX,
    additionalProperties: SCALAR,
    description: 'Its metadata.',
  },
} as const

const LEVEL = named(
  'RuleLevel',
  closed({ when: CONDITION, severity: SEVERITY }, ['when', 'severity']),
)

const EVENT = named(
  'RuleEvent',
  closed(
    {
      ...SHARED,
      description: text(limits.TEXT_MAX),
      message: text(limits.TEXT_MAX),
      levels: some(LEVEL, limits.LEVELS_MAX, 'The severity while a condition holds.'),
      update_every: duration('At most one update in so long.'),
      remind_every: duration('Time between reminders, 1m to 1d.', REMINDER_FORM),
      escalate: {
        type: 'array',
        maxItems: STEPS_MAX,
        items: named('RuleEscalationStep', { ...STEP, additionalProperties: false }),
        description: 'Steps, whose after and level rise.',
      },
    },
    ['title'],
  ),
)

const MESSAGE = named(
  'RuleMessage',
  closed(
    {
      ...SHARED,
      body: text(limits.TEXT_MAX),
      at_most_every: duration('At most one Message of a Thing in so long.'),
    },
    ['title'],
  ),
)

/** A rule as it is put. */
export const RULE_FORM: JsonSchema = named('RuleForm', {
  ...closed(
    {
      title: text(limits.TITLE_MAX, 'For people.'),
      things: THINGS,
      when: CONDITION,
      for: duration('How long the condition must hold.'),
      clear: CONDITION,
      clear_for: duration('How long that must hold.'),
      event: EVENT,
      message: MESSAGE,
      enabled: { type: 'boolean', description: 'False keeps the rule without effect.' },
    },
    ['things', 'when'],
  ),
  description:
    'What to watch and what to do: things, when, and either event or message. Without clear the ' +
    'opposite of when clears. At most 16 KiB. docs/rules.md has every form.',
  anyOf: [
    { properties: { message: { type: 'null' } }, required: ['event'] },
    { properties: { event: { type: 'null' } }, required: ['message'] },
  ],
})
