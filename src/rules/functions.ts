// The functions of expressions. Those whose work grows faster than their operands are not there:
// `matches` could take minutes. (values/1)

import { Failure, OVERFLOW, SPENT, itemsOf, noOverload, whole } from './values.ts'
import type { Result, Value } from './values.ts'
import type { Work } from './work.ts'

/** A function of a value, which stands before it or is its only argument, and of others. */
type Call = (values: readonly Value[], work: Work) => Result

/** A function of one text, which looks at all of it. */
const ofText =
  (name: string, result: (text: string) => Result): Call =>
  (values, work) => {
    const [text = null] = values
    if (typeof text !== 'string') return noOverload(name, values)
    return work.takeText(text.length) ? result(text) : SPENT
  }

/** A function of a text and one to find in it. `looksAt`: the characters at which it looks. */
const ofTexts =
  (
    name: string,
    looksAt: (text: string, wanted: string) => number,
    holds: (text: string, wanted: string) => boolean,
  ): Call =>
  (values, work) => {
    const [text = null, wanted = null] = values
    if (typeof text !== 'string' || typeof wanted !== 'string') return noOverload(name, values)
    return work.takeText(looksAt(text, wanted)) ? holds(text, wanted) : SPENT
  }

const PAIRS = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g

const textSize = ofText('size', (text) => BigInt(text.length - (text.match(PAIRS)?.length ?? 0)))

/** The characters of a text, the items of a list, the names of a map. */
const size: Call = (values, work) => {
  const [value = null] = values
  if (typeof value !== 'object' || value === null) return textSize(values, work)
  const items = itemsOf(value, work)
  return items instanceof Failure ? items : BigInt(items.length)
}

/** Characters of a text for which the product is as good. */
const SHORT = 8

/**
 * True when a text contains another one. It looks at each character of both twice at most, while
 * `includes` may take the product of their lengths. (Knuth, Morris and Pratt; values/1)
 */
export function contains(text: string, wanted: string): boolean {
  if (wanted.length <= SHORT) return text.includes(wanted)
  const kept = new Uint32Array(wanted.length)
  /** How much of the beginning of `wanted` there is behind one more character. */
  const grown = (before: number, character: number): number => {
    let length = before
    while (length > 0 && wanted.charCodeAt(length) !== character) length = kept[length - 1] ?? 0
    return wanted.charCodeAt(length) === character ? length + 1 : 0
  }
  for (let end = 1; end < wanted.length; end += 1) {
    kept[end] = grown(kept[end - 1] ?? 0, wanted.charCodeAt(end))
  }
  let found = 0
  for (let end = 0; end < text.length && found < wanted.length; end += 1) {
    found = grown(found, text.charCodeAt(end))
  }
  return found === wanted.length
}

const shorter = (one: string, other: string): number => Math.min(one.length, other.length)
const both = (one: string, other: string): number => one.length + other.length

const INT_DIGITS_MAX = 20

function wholeIn(text: string): Result {
  const isPlain = text === text.trim() && text.length <= INT_DIGITS_MAX && !text.includes('0x')
  if (!isPlain) return NO_INT
  try {
    const value = BigInt(text)
    return BigInt.asIntN(64, value) === value ? value : NO_INT
  } catch {
    return NO_INT
  }
}

const NO_INT = new Failure('the text is no int')
const NO_DOUBLE = new Failure('the text is no double')
const NO_BOOL = new Failure('the text is no bool')

const int: Call = (values, work) => {
  const [value = null] = values
  if (typeof value === 'bigint') return value
  if (typeof value !== 'number') return ofText('int', wholeIn)(values, work)
  return Number.isFinite(value) ? whole(BigInt(Math.trunc(value))) : OVERFLOW
}

const INFINITIES = /^([+-]?)inf(inity)?$/i

function doubleIn(text: string): Result {
  if (text === '' || text !== text.trim()) return NO_DOUBLE
  const infinite = INFINITIES.exec(text)
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity
  const value = Number(text)
  return Number.isNaN(value) && text.toLowerCase() !== 'nan' ? NO_DOUBLE : value
}

const double: Call = (values, work) => {
  const [value = null] = values
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value)
  return ofText('double', doubleIn)(values, work)
}

const string: Call = (values) => {
  const [value = null] = values
  if (value === Infinity || value === -Infinity) return value > 0 ? '+Inf' : '-Inf'
  return typeof value === 'object' ? noOverload('string', values) : String(value)
}

const TRUE = ['1', 't', 'true', 'TRUE', 'True']
const FALSE = ['0', 'f', 'false', 'FALSE', 'False']

const bool: Call = (values) => {
  const [value = null] = values
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return noOverload('bool', values)
  return TRUE.includes(value) || (FALSE.includes(value) ? false : NO_BOOL)
}

/** The functions by name. Whether one stands behind its value is checked when it is read. */
export const CALLS: Readonly<Record<string, Call>> = {
  size,
  int,
  double,
  string,
  bool,
  dyn: ([value = null]) => value,
  contains: ofTexts('contains', both, contains),
  startsWith: ofTexts('startsWith', shorter, (text, wanted) => text.startsWith(wanted)),
  endsWith: ofTexts('endsWith', shorter, (text, wanted) => text.endsWith(wanted)),
  lowerAscii: ofText('lowerAscii', (text) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  upperAscii: ofText('upperAscii', (text) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  trim: ofText('trim', (text) => text.trim()),
}
