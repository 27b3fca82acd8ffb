// The terms of a query: what a name, a comparison or a keyword with a value asks for.

import { THING_STATES } from '#domain/entity'
import type { AttrPath, Where } from '#domain/rules/condition'
import { Stop } from './mistake.ts'
import type { MistakeCode } from './mistake.ts'
import { NUMBER } from './words.ts'
import type { Keyword, Operator } from './words.ts'

/** A word or a text in quotes, and the characters that it lies between. */
export interface Piece {
  readonly text: string
  readonly isQuoted: boolean
  readonly at: number
  readonly end: number
}

export const stop = (
  { at, end }: Pick<Piece, 'at' | 'end'>,
  code: MistakeCode,
  message: string,
): never => {
  throw new Stop({ code, at, end, message })
}

/** The attr of a name: dots lead into objects, but not within quotes. */
export function pathOf(name: Piece): AttrPath {
  if (name.isQuoted || !name.text.includes('.')) return name.text
  const path = name.text.split('.')
  return path.includes('')
    ? stop(name, 'name_missing', 'a name has something on both sides of a dot; else it is quoted')
    : path
}

/** True for a number that a double holds: JSON has no other. */
const isNumber = (text: string): boolean => NUMBER.test(text) && Number.isFinite(Number(text))

const numberOf = (piece: Piece): number =>
  !piece.isQuoted && isNumber(piece.text)
    ? Number(piece.text)
    : stop(piece, 'not_a_number', 'a number stands here')

/** `10..20`; undefined for another value. */
function rangeOf(value: Piece): readonly [number, number] | undefined {
  const [low = '', high, ...more] = value.isQuoted ? [] : value.text.split('..')
  if (high === undefined) return undefined
  const isRange = isNumber(low) && isNumber(high) && more.length === 0
  return isRange && Number(low) <= Number(high)
    ? [Number(low), Number(high)]
    : stop(value, 'not_a_range', 'a range is two numbers with the lower one first: 10..20')
}

function scalarOf(piece: Piece): string | number | boolean {
  const { text, isQuoted } = piece
  if (isQuoted) return text
  if (text === 'true' || text === 'false') return text === 'true'
  return NUMBER.test(text) ? numberOf(piece) : text
}

/** What `temperature > 80` asks for. */
export function comparison(name: Piece, operator: Operator, value: Piece): Where {
  const attr = pathOf(name)
  switch (operator) {
    case '>':
      return { attr, above: numberOf(value) }
    case '<':
      return { attr, below: numberOf(value) }
    case '>=':
      return { not: { attr, below: numberOf(value) } }
    case '<=':
      return { not: { attr, above: numberOf(value) } }
    case '=':
    case '!=': {
      const range = rangeOf(value)
      const isEqual = operator === '='
      if (range !== undefined) return isEqual ? { attr, inside: range } : { attr, outside: range }
      return isEqual ? { attr, equals: scalarOf(value) } : { attr, not_equals: scalarOf(value) }
    }
  }
}

const DURATION = /^[1-9]\d*[smhd]$/
const PLACE = /^([^,]+),([^,]+),([\d.]+)(k?m)?$/

/** What `tag:pump` asks for. */
export function keywordTerm(keyword: Keyword, value: Piece): Where {
  const { text } = value
  switch (keyword) {
    case 'state': {
      const state = THING_STATES.find((known) => known === text.toLowerCase())
      const states = THING_STATES.join(', ')
      return { state: state ?? stop(value, 'not_a_state', `a state is one of ${states}`) }
    }
    case 'tag':
      return { tag: text }
    case 'prefix':
      return { prefix: text }
    case 'text':
      return { text }
    case 'cel':
      return { cel: text }
    case 'has':
      return { not: { attr: pathOf(value), absent: true } }
    case 'missing':
      return { attr: pathOf(value), absent: true }
    case 'silent':
      return DURATION.test(text)
        ? { silent: text }
        : stop(value, 'not_a_duration', 'a duration is a whole number of s, m, h or d: 10m')
    case 'near':
      return placeOf(value)
  }
}

function placeOf(value: Piece): Where {
  const [, latitude = '', longitude = '', distance = '', unit] = PLACE.exec(value.text) ?? []
  if (![latitude, longitude, distance].every(isNumber)) {
    return stop(value, 'not_a_place', 'a place is latitude,longitude,distance: 48.2,16.4,5km')
  }
  const within = Number(distance) * (unit === 'km' ? 1_000 : 1)
  return { near: [Number(latitude), Number(longitude)], within }
}
