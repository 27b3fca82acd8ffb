// The route that gives everything that a channel keeps, as a stream. (Specification: Export)

import { TIERS } from '#domain/history/series'
import type { Tier } from '#domain/history/series'
import { parseThingId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { ACTIONS } from '#domain/submission'
import { readingRequest } from '#src/schemas/credentials'
import { BYTES, given, named, object, oneOf, text, time } from '#src/schemas/json-schema'
import { read } from '#src/schemas/members'
import { ENTITY_ID_FORM, PREFIX_FORM, exactly, trimmedOrBlank } from '#src/schemas/patterns'
import { PREFIX } from '#src/schemas/key-routes'
import { KEYED, post, routes } from '#src/schemas/route'
import { ENTITY_ID, invalid, isTimeAbsent } from '#src/schemas/values'
import { readParsed, readTime, readTo, readWhole } from '#src/schemas/values'
import type { SentText } from '#src/schemas/values'
import { EXPORTED } from './export-names.ts'
import type { Exported, SeriesPlace } from './export-names.ts'

export const NDJSON = 'application/x-ndjson'

const KINDS = ['update', 'event', 'message', 'thing', 'series', 'progress', 'end'] as const

const SERIES_PLACE_FORM = `${ENTITY_ID_FORM} \\d{1,15}`
const SERIES_PLACE = {
  rule: 'must be what a line of an export has',
  parse: (sent: string): SeriesPlace | undefined => {
    const [, thingId = '', before] = /^(\S+) (\d{1,15})$/.exec(sent) ?? []
    return parseThingId(thingId) && { thingId, before: Number(before) }
  },
}

function readStep(sent: SentText, field: string): Answer<Tier | undefined> {
  const parse = (word: string) => TIERS.find((tier) => tier === word.toLowerCase())
  return readParsed(field, sent, { parse, rule: `must be one of ${TIERS.join(', ')}` })
}

function readWhat(sent: readonly string[] | null | undefined): Answer<readonly Exported[]> {
  if (!sent) return EXPORTED
  const words = sent.map((word) => word.trim().toLowerCase())
  const isKnown = words.every((word) => EXPORTED.some((one) => one === word))
  if (!isKnown || words.length === 0) {
    return invalid('what', `must be some of ${EXPORTED.join(', ')}`)
  }
  return EXPORTED.filter((one) => words.includes(one))
}

const LINE = named(
  'ExportLine',
  object(
    {
      kind: oneOf(
        KINDS,
        'update, event and message are entries of the feed; thing is the present state of a ' +
          'Thing, with the members of /thing/get; series is what /thing/series gives of a Thing, ' +
          'from its newest times to its oldest; progress tells how far it is; end is the last ' +
          'line.',
      ),
      seq: given('integer', 'Of an entry: its number in the feed.'),
      op_id: given('string', 'Of an entry: the operation that made it.'),
      action: oneOf(ACTIONS, 'Of an entry: the action of the submission.'),
      entity_id: given('string', 'Of an entry: the Message, Event or Thing.'),
      state: given('string', 'Of an entry or a Thing: the state behind it.'),
      rev: given('integer', 'Of an entry or a Thing: the revision behind it.'),
      accepted_at: given('integer', 'Of an entry: Unix milliseconds.'),
      payload: given('object', 'Of an entry: the Message, or the changes.'),
      thing_id: given('string', 'Of a Thing and its series: its id.'),
      step: oneOf(TIERS, 'Of series: what a point stands for.'),
      from: given('integer', 'Of series: Unix milliseconds, from when on they are whole.'),
      to: given('integer', 'Of series: up to when.'),
      attrs: {
        type: 'object',
        description: 'Of a Thing: the present values. Of series: the columns of each attr.',
      },
      after_seq: given('integer', 'Of the end and of progress: everything up to here was given.'),
      after_thing: given('string', 'Of an end between Things: the last Thing that was given.'),
      after_series: given(
        'string',
        'Of series, and of progress and an end among them: everything up to here was given.',
      ),
      complete: given(
        'boolean',
        'Of series: false for times of which nothing can be read for now. Of the end: false when ' +
          'the export was cut, or has such series.',
      ),
      error_code: given(
        'string',
        'Of an end that is not complete: why. series_incomplete: all but some series was given.',
      ),
    },
    ['kind'],
  ),
)

export const EXPORT = routes('Reading', '', {
  export: post('/channel/export', 'Export what a Channel keeps, as a stream of lines', {
    operation: 'exportChannel',
    request: readingRequest(
      {
        what: read(
          {
            type: ['array', 'null'],
            minItems: 1,
            items: { type: 'string', pattern: exactly(EXPORTED.join('|')) },
            description:
              'What to give: things (their present state), events, messages, updates, series; ' +
              'all of them without this.',
          },
          readWhat,
        ),
        from: read(
          time('Only entries accepted then or later, and series from then on.'),
          (sent, field) => readTime(field, sent),
          'fromMs',
        ),
        to: read(time('Only entries accepted before then, and series up to then.'), readTo, 'toMs'),
        thing_prefix: read(
          text(
            'Only Things whose thing_id begins with it, and Events of those.',
            trimmedOrBlank(PREFIX_FORM),
          ),
          (sent, field) => readParsed(field, sent, PREFIX),
        ),
        step: read(
          {
            ...text(
              `What a point of series stands for: ${TIERS.join(', ')}. 1h when absent, or what ` +
                'is kept.',
            ),
            words: TIERS,
          },
          readStep,
        ),
        after_seq: read(
          {
            type: ['integer', 'string', 'null'],
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            description: 'Goes on behind this seq, as the last line of an export before says.',
          },
          (sent, field) => {
            if (sent === undefined || sent === null || isTimeAbsent(sent)) return 0
            return readWhole(sent) ?? invalid(field, 'must be a whole number from 0')
          },
        ),
        after_thing: read(
          text(
            'Goes on behind this Thing, as the last line of an export before says.',
            trimmedOrBlank(ENTITY_ID_FORM),
          ),
          (sent, field) => readParsed(field, sent, ENTITY_ID),
        ),
        after_series: read(
          text(
            'Goes on behind these series, as the last line of an export before says.',
            trimmedOrBlank(SERIES_PLACE_FORM),
          ),
          (sent, field) => readParsed(field, sent, SERIES_PLACE),
        ),
      },
      [],
    ),
    data: LINE,
    raw: { mediaType: NDJSON, schema: BYTES },
    codes: [...KEYED, 'invalid_timestamp', 'rate_limited'],
  }),
})
