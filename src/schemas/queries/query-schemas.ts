// The members of a query of Things, and of its answer. Browsers reach this file, so what reads the
// values stands elsewhere. (src/queries)

import type { Where } from '#domain/rules/condition'
import { THING_STATES } from '#domain/entity'
import { PLACE_FORM, encodePlace } from '#domain/things/cursor'
import type { Place } from '#domain/things/cursor'
import { AGGREGATES_MAX, COMPUTED, GROUPS_MAX, GROUP_BY_MAX } from '#domain/things/query'
import { PREFIX_MAX } from '#domain/things/query'
import type { ThingAggregate, ThingGroupBy } from '#domain/things/query'
import type { ThingGroupKey, ThingOrder } from '#domain/things/query'
import { anyJson, given, list, named, object, oneOf, only } from '#src/schemas/json-schema'
import { text, typed } from '#src/schemas/json-schema'
import { computed } from '#src/schemas/members'
import { limit } from '#src/schemas/paging'
import { trimmedOrBlank } from '#src/schemas/patterns'

const QUERY_LIMIT_MAX = 1_000
const FALLBACK = 50

/** Conditions stand within each other. */
const OF = '#/components/schemas/ThingCondition'
const number = (description: string) => ({ type: 'number', description }) as const
const numbers = (description: string) =>
  ({ type: 'array', minItems: 2, maxItems: 2, items: { type: 'number' }, description }) as const
const conditions = (description: string) =>
  ({ type: 'array', minItems: 1, maxItems: 32, items: { $ref: OF }, description }) as const

const PREFIX = { type: 'integer', minimum: 1, maximum: PREFIX_MAX } as const
const ATTR = anyJson('The name of an attr, or the list of names of a value within objects.')

/** One object with every form, so that generators of clients make one type of it. */
const CONDITION = typed<Where>()(
  named('ThingCondition', {
    ...object(
      {
        attr: anyJson('An attr, or the names of a value within objects, with one test beside it.'),
        above: number('The value is a number above this.'),
        below: number('The value is a number below this.'),
        inside: numbers('The value is a number within [low, high].'),
        outside: numbers('The value is a number outside of [low, high].'),
        equals: anyJson('The value is this text, number, true or false.'),
        not_equals: anyJson('The value is another one than this.'),
        absent: given('boolean', 'Always true: there is no value.'),
        silent: given('string', 'No update was accepted for this duration: 10m.'),
        all: conditions('Every one holds.'),
        any: conditions('One of them holds.'),
        not: { $ref: OF, description: 'It does not hold.' },
        cel: given('string', 'An expression: attrs.t > 30.0 && attrs.h < 60.0.'),
        state: oneOf(THING_STATES, 'The Thing is in this state.'),
        tag: given('string', 'It has this tag.'),
        prefix: given('string', 'Its thing_id begins with this.'),
        text: given('string', 'Its title or description has this in it, without case.'),
        near: numbers('Latitude and longitude in degrees, with within beside them.'),
        within: number('Metres around near.'),
      },
      [],
    ),
    type: ['object', 'null'],
    additionalProperties: false,
    minProperties: 1,
    examples: [{ all: [{ attr: 'pressure', above: 3 }, { tag: 'cellar' }] }],
    description:
      'Which Things: one form of a condition. Without {"state"} in it, deleted Things are left ' +
      'out. docs/history.md has every form.',
  } as const),
)

const ORDER = typed<ThingOrder>()(
  named('ThingOrder', {
    ...object(
      {
        by: {
          description: '"changed", "thing_id", "title" or {"attr": name}.',
          anyOf: [
            { type: 'string', enum: ['changed', 'thing_id', 'title'] },
            only(object({ attr: ATTR }, ['attr'])),
          ],
        },
        descending: given('boolean', 'From the last to the first.'),
      },
      ['by'],
    ),
    type: ['object', 'null'],
    additionalProperties: false,
    examples: [{ by: { attr: 'pressure' }, descending: true }],
    description: 'The order of the items; the newest change first when absent.',
  } as const),
)

const AGGREGATE = named(
  'ThingAggregate',
  only(object({ attr: ATTR, of: oneOf(COMPUTED, 'What is computed.') }, ['attr', 'of'])),
)

/** The members of a request. What they say together is read with the cursor. */
export const QUERY = {
  where: CONDITION,
  order: ORDER,
  limit: limit(FALLBACK, QUERY_LIMIT_MAX),
  cursor: {
    ...text(
      'next_cursor of the page before, with the same where and order.',
      trimmedOrBlank(PLACE_FORM),
    ),
    examples: [encodePlace({ key: { rank: 0, value: 3, id: 'boiler-1' } })],
  },
  count: {
    type: ['boolean', 'null'],
    examples: [true],
    description: 'Also tells how many there are.',
  },
  group_by: typed<readonly ThingGroupBy[]>()({
    type: ['array', 'null'],
    minItems: 1,
    maxItems: GROUP_BY_MAX,
    items: {
      description: '"state", "tag", {"attr": name} or {"prefix": characters of the thing_id}.',
      anyOf: [
        { type: 'string', enum: ['state', 'tag'] },
        only(object({ attr: ATTR }, ['attr'])),
        only(object({ prefix: PREFIX }, ['prefix'])),
      ],
    },
    examples: [['state', { attr: 'mode' }]],
    description: 'Counts the Things in groups.',
  }),
  aggregate: typed<readonly ThingAggregate[]>()({
    type: ['array', 'null'],
    minItems: 1,
    maxItems: AGGREGATES_MAX,
    items: AGGREGATE,
    examples: [[{ attr: 'pressure', of: 'mean' }]],
    description: 'Numbers of each group; without group_by, of one group of all Things.',
  }),
} as const

/** Assistants read the schema of an answer without the components of the document. */
const KEY = { description: 'A text, a number, true, false, or null where there is none.' } as const

const GROUP = named(
  'ThingGroup',
  object(
    {
      key: typed<ThingGroupKey>()(list(KEY, 'One value for each of group_by.')),
      count: given('integer', 'Things in the group.'),
      aggregates: list(
        named(
          'ThingGroupAggregate',
          object(
            {
              attr: given('string', 'The attr; a dot stands between names.'),
              of: oneOf(COMPUTED, 'What is computed.'),
              value: number(
                'Left out when no Thing of the group has a number there, or their sum is too ' +
                  'large for one.',
              ),
            },
            ['attr', 'of'],
          ),
        ),
        'In the order of aggregate.',
      ),
    },
    ['key', 'count', 'aggregates'],
  ),
)

/** The members of an answer beside its items. */
export const QUERY_ANSWER = {
  next_cursor: computed(
    given('string', 'The cursor of the next page; absent on the last one.'),
    ({ next }: { readonly next?: Place }) => next && encodePlace(next),
  ),
  total: given('integer', 'With count: how many Things there are.'),
  groups: list(GROUP, `With group_by or aggregate: up to ${GROUPS_MAX}, the largest first.`),
  complete: computed(
    given('boolean', 'With total or groups: false when they leave Things out.'),
    ({ isComplete }: { readonly isComplete?: boolean }) => isComplete,
  ),
} as const
