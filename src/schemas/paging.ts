// Pages of lists: the members of their requests and answers, and the cursors between them, each of
// which holds a place and nothing secret.

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Page } from '#domain/store-ports'

import { given, list, object, text } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import { computed, read } from './members.ts'
import { CURSOR_FORM, trimmedOrBlank } from './patterns.ts'
import { isBlank, readLimit } from './values.ts'
import type { SentText } from './values.ts'

export const LIMIT_MAX = 200
const LIMIT_FALLBACK = 50

const CURSOR = /^c[0-9a-z]{1,11}$/

/** The cursor that stands for a place in a list, a whole number from 0. */
export const encodeCursor = (place: number): string => `c${place.toString(36)}`

/** The place that a cursor stands for; undefined when none was sent. */
export function readCursor(sent: SentText): Answer<number | undefined> {
  if (sent === undefined || sent === null || isBlank(sent)) return undefined
  const cursor = sent.trim()
  const place = CURSOR.test(cursor) ? Number.parseInt(cursor.slice(1), 36) : NaN
  const isOurs = Number.isSafeInteger(place) && encodeCursor(place) === cursor
  return isOurs ? place : fault('invalid_cursor', { field: 'cursor' })
}

/** The member that limits a page. */
export const limit = (fallback = LIMIT_FALLBACK, max = LIMIT_MAX) =>
  read(
    {
      type: ['integer', 'string', 'null'],
      minimum: 1,
      maximum: max,
      description: `The most items to give: 1 to ${max}; ${fallback} when absent.`,
    },
    (sent) => readLimit(sent, { max, fallback }),
  )

/** The member with the cursor of a page, which no reader takes yet. */
export const CURSOR_TEXT = text(
  'next_cursor of the page before; absent for the first page.',
  trimmedOrBlank(CURSOR_FORM),
)

/** The members of a request for a page of a list that begins behind the place `after`. */
export const PAGE = {
  cursor: read(CURSOR_TEXT, (sent) => readCursor(sent) ?? 0, 'after'),
  limit: limit(),
} as const

/** The same for a list that goes back from the place `before`. */
export const PAGE_BACK = { ...PAGE, cursor: read(CURSOR_TEXT, readCursor, 'before') } as const

/** The member with the cursor of the next page. */
export const nextCursor = (description: string) =>
  computed(given('string', description), ({ next }: Pick<Page<unknown>, 'next'>) =>
    next === undefined ? undefined : encodeCursor(next),
  )

/** One page of these items. */
export const page = <const Items extends JsonSchema>(items: Items) =>
  object(
    {
      items: list(items, 'One page.'),
      next_cursor: nextCursor('The cursor of the next page; absent on the last one.'),
    },
    ['items'],
  )
