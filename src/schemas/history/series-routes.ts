// The route that reads numbers of Things over time. (Specification: Tiers and series)

import { isFault } from '#domain/fault'
import type { ThingId } from '#domain/identity'
import { STEPS } from '#domain/history/series'
import type { Columns, Step, ThingSeries } from '#domain/history/series'
import type { Answer } from '#domain/ports'
import { readingRequestOf } from '#src/schemas/credentials'
import { ABSENT, given, object, oneOf, requiredText, requiredTime } from '#src/schemas/json-schema'
import { text, texts, time } from '#src/schemas/json-schema'
import { computed, read } from '#src/schemas/members'
import { ENTITY_ID_FORM, trimmed, trimmedOrBlank } from '#src/schemas/patterns'
import { KEYED, post, routes } from '#src/schemas/route'
import {
  ENTITY_ID,
  ENTITY_ID_RULE,
  invalid,
  isBlank,
  readParsed,
  readTime,
  readTo,
} from '#src/schemas/values'
import type { SentText } from '#src/schemas/values'

/** Things of one request, of which one attr is read. */
const SERIES_THINGS_MAX = 20
/** Attrs that a request names. */
const SERIES_ATTRS_MAX = 64

interface Body {
  readonly thing_ids?: readonly string[] | null
  readonly attrs?: readonly string[] | null
}

/** The Things that are asked for. `isOne`: by thing_id, and not as a list. */
interface AskedThings {
  readonly ids: readonly ThingId[]
  readonly isOne: boolean
}

function readThings(
  sent: SentText,
  field: string,
  { thing_ids, attrs }: Body,
): Answer<AskedThings> {
  const list = thing_ids ?? []
  if (!isBlank(sent)) {
    if (list.length > 0) return invalid(field, 'must not be sent together with thing_ids')
    const id = readParsed(field, sent, ENTITY_ID)
    return isFault(id) ? id : { ids: id === undefined ? [] : [id], isOne: true }
  }
  if (list.length === 0) return invalid(field, 'or thing_ids must be sent')
  if (list.length > SERIES_THINGS_MAX) {
    return invalid('thing_ids', `must name at most ${SERIES_THINGS_MAX} Things`)
  }
  if (attrs?.length !== 1) return invalid('attrs', 'must name one attr beside thing_ids')
  const ids: ThingId[] = []
  for (const one of list) {
    const id = readParsed('thing_ids', one, ENTITY_ID)
    if (isFault(id)) return id
    if (id === undefined) return invalid('thing_ids', `${ENTITY_ID_RULE}, each of them`)
    ids.push(id)
  }
  return { ids: [...new Set(ids)], isOne: false }
}

function readAttrs(
  sent: readonly string[] | null | undefined,
  field: string,
): Answer<readonly string[] | undefined> {
  if (sent === undefined || sent === null || sent.length === 0) return undefined
  return sent.length > SERIES_ATTRS_MAX
    ? invalid(field, `must be at most ${SERIES_ATTRS_MAX}`)
    : sent
}

const ASKED_STEPS = [...STEPS, 'auto'] as const
export type AskedStep = Step | 'auto'

function readStep(sent: SentText, field: string): Answer<AskedStep> {
  const rule = `must be one of ${ASKED_STEPS.join(', ')}`
  const parse = (word: string) => ASKED_STEPS.find((step) => step === word.toLowerCase())
  return readParsed(field, sent, { parse, rule }) ?? 'auto'
}

const numbers = (description: string) =>
  ({ type: 'array', items: { type: 'number' }, description }) as const

const COLUMNS = object(
  {
    times: {
      type: 'array',
      items: { type: 'integer' },
      description: 'Unix milliseconds: when each bucket begins, or the time of each reading.',
    },
    min: numbers('The least reading of each bucket.'),
    max: numbers('The greatest one.'),
    mean: numbers('The mean of the readings.'),
    last: numbers('The last one.'),
    count: {
      type: 'array',
      items: { type: 'integer' },
      description: 'How many readings the bucket has.',
    },
    values: {
      type: 'array',
      items: { type: ['number', 'string', 'boolean'] },
      description: 'The readings themselves, with the step raw.',
    },
  },
  ['times'],
)

/** What is answered. */
export interface SeriesAnswer {
  readonly step: Step
  readonly from: number
  readonly to: number
  readonly isComplete: boolean
  /** By attr, where one Thing was asked for; otherwise by Thing. */
  readonly attrs?: ThingSeries
  readonly things?: Readonly<Record<string, Columns>>
}

const byName = (description: string) =>
  ({ type: 'object', additionalProperties: COLUMNS, description }) as const

const THING = requiredText('The Thing.', trimmed(ENTITY_ID_FORM))
const NO_THINGS = { ...texts('Not sent.'), maxItems: 0, examples: [[]] } as const
const THINGS = {
  type: 'array',
  items: { type: 'string', pattern: trimmed(ENTITY_ID_FORM) },
  minItems: 1,
  maxItems: SERIES_THINGS_MAX,
  description: `Up to ${SERIES_THINGS_MAX} Things.`,
  examples: [['boiler-1', 'boiler-2']],
} as const
const ONE_ATTR = {
  type: 'array',
  items: { type: 'string' },
  minItems: 1,
  maxItems: 1,
  description: 'The attr of all of them.',
  examples: [['temperature']],
} as const

export const SERIES = routes('Reading', 'Thing', {
  series: post('/thing/series', 'Read the numbers of things over time', {
    operation: 'readThingSeries',
    request: readingRequestOf(
      {
        thing_id: read(
          text('The Thing. Exactly one of thing_id and thing_ids.', trimmedOrBlank(ENTITY_ID_FORM)),
          readThings,
          'things',
        ),
        thing_ids: {
          ...texts(`Up to ${SERIES_THINGS_MAX} Things, of which one attr is read.`),
          maxItems: SERIES_THINGS_MAX,
        },
        attrs: read(
          {
            ...texts('Only these attrs; every one that has numbers when absent.'),
            items: { type: 'string' },
            maxItems: SERIES_ATTRS_MAX,
            examples: [['temperature']],
          },
          readAttrs,
        ),
        from: read(requiredTime('The beginning.'), (sent, field) => readTime(field, sent) ?? 0),
        to: read(time('The end, which is left out; now when absent.'), readTo),
        step: read(
          {
            ...text(
              `What a point stands for: ${ASKED_STEPS.join(', ')}. auto: the finest that has at ` +
                'most 1,000 points and reaches back to the beginning.',
            ),
            words: ASKED_STEPS,
          },
          readStep,
        ),
      },
      ['from'],
      [
        { ...object({ thing_id: THING, thing_ids: NO_THINGS }, ['thing_id']), title: 'one Thing' },
        {
          ...object({ thing_id: ABSENT, thing_ids: THINGS, attrs: ONE_ATTR }, [
            'thing_ids',
            'attrs',
          ]),
          title: 'several Things',
        },
      ],
    ),
    data: object(
      {
        step: computed(oneOf(STEPS, 'The step.'), ({ step }: SeriesAnswer) => step),
        from: computed(
          given('integer', 'Unix milliseconds: from here on the series has what there is.'),
          ({ from }: SeriesAnswer) => from,
        ),
        to: computed(given('integer', 'Up to here.'), ({ to }: SeriesAnswer) => to),
        complete: computed(
          given('boolean', 'False where a part of what was asked is not kept, or was too much.'),
          ({ isComplete }: SeriesAnswer) => isComplete,
        ),
        attrs: computed(
          byName('The series of thing_id, by attr.'),
          ({ attrs }: SeriesAnswer) => attrs,
        ),
        things: computed(
          byName('The series of thing_ids, by Thing.'),
          ({ things }: SeriesAnswer) => things,
        ),
      },
      ['step', 'from', 'to', 'complete'],
    ),
    codes: [...KEYED, 'invalid_timestamp'],
  }),
})
