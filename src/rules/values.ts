// What the operators and functions of expressions give for values. Each takes the steps of its work
// before it does it. (work/2)
//
// Invariants:
//   values/1. The work of each grows with the length of its operands, never with their product.

import type { BinaryOperator, UnaryOperator } from '@marcbachmann/cel-js'

import type { Work } from './work.ts'

/** JSON, and the whole numbers of expressions. */
export type Value =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly Value[]
  | { readonly [name: string]: Value }

/** Why there is no value. */
export class Failure {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

export type Result = Value | Failure
type Binary = (left: Value, right: Value, work: Work) => Result

/** Says that the budget is used up. */
export const SPENT = new Failure('too many steps')

const isList = (value: Value): value is readonly Value[] => Array.isArray(value)

const isMap = (value: Value): value is { readonly [name: string]: Value } =>
  typeof value === 'object' && value !== null && !isList(value)

const isNumber = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint'

/** Returns the member of a map; undefined when there is none. */
export const memberOf = (value: Value, name: string): Value | undefined =>
  isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined

export const missing = (name: string): Failure => new Failure(`No such key: ${name}`)

/** Returns the value at an index of a list, or under a key of a map. */
export function valueAt(value: Value, key: Value): Result {
  if (typeof key === 'object') return new Failure('a key is a text, a number, true or false')
  const isIndex = isList(value) && isNumber(key)
  const found = isIndex ? value[Number(key)] : memberOf(value, String(key))
  return found === undefined ? missing(String(key)) : found
}

/** Returns what a macro runs over: the items of a list, or the names of a map. */
export function itemsOf(value: Value, work: Work): readonly Value[] | Failure {
  if (isList(value)) return value
  return isMap(value) ? namesOf(value, work) : new Failure('a macro runs over a list or a map')
}

function namesOf(map: object, work: Work): readonly string[] | Failure {
  const names = Object.keys(map)
  return work.take(names.length) ? names : SPENT
}

/** The same lists, maps, texts and numbers, a whole one also as a double. */
function equal(left: Value, right: Value, work: Work): boolean | Failure {
  if (!work.take(1)) return SPENT
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length !== right.length) return false
    return work.takeText(left.length) ? left === right : SPENT
  }
  if (typeof left === 'bigint' && typeof right === 'number') return isSame(left, right)
  if (typeof left === 'number' && typeof right === 'bigint') return isSame(right, left)
  if (left === right) return true
  if (isList(left)) return isList(right) && equalLists(left, right, work)
  return isMap(left) && isMap(right) && equalMaps(left, right, work)
}

const isSame = (whole: bigint, double: number): boolean =>
  Number.isInteger(double) && BigInt(double) === whole

function equalLists(
  left: readonly Value[],
  right: readonly Value[],
  work: Work,
): boolean | Failure {
  if (left.length !== right.length) return false
  for (const [index, item] of left.entries()) {
    const is = equal(item, right[index] ?? null, work)
    if (is !== true) return is
  }
  return true
}

function equalMaps(
  left: Readonly<Record<string, Value>>,
  right: Readonly<Record<string, Value>>,
  work: Work,
): boolean | Failure {
  const names = namesOf(left, work)
  const others = namesOf(right, work)
  if (names instanceof Failure || others instanceof Failure) return SPENT
  if (names.length !== others.length) return false
  for (const name of names) {
    const one = left[name] ?? null
    const is = Object.hasOwn(right, name) && equal(one, right[name] ?? null, work)
    if (is !== true) return is
  }
  return true
}

function isIn(value: Value, container: Value, work: Work): Result {
  if (isMap(container)) {
    return typeof value !== 'object' && memberOf(container, String(value)) !== undefined
  }
  if (!isList(container)) return noOverload('in', [value, container])
  for (const item of container) {
    const is = equal(value, item, work)
    if (is !== false) return is
  }
  return false
}

function unequal(left: Value, right: Value, work: Work): Result {
  const is = equal(left, right, work)
  return is instanceof Failure ? is : !is
}

/** Compares numbers, texts by their characters, and false with true. */
const comparing =
  (sign: string, holds: (left: Comparable, right: Comparable) => boolean): Binary =>
  (left, right, work) => {
    if (isNumber(left) && isNumber(right)) return holds(left, right)
    if (typeof left === 'string' && typeof right === 'string') {
      return work.takeText(Math.min(left.length, right.length)) ? holds(left, right) : SPENT
    }
    if (typeof left === 'boolean' && typeof right === 'boolean') return holds(left, right)
    return noOverload(sign, [left, right])
  }

type Comparable = string | number | bigint | boolean

const INT_MAX = 2n ** 63n - 1n
const INT_MIN = -(2n ** 63n)

export const OVERFLOW = new Failure('integer overflow')

/** A whole number of 64 bits. */
export const whole = (value: bigint): Result =>
  value <= INT_MAX && value >= INT_MIN ? value : OVERFLOW

/** Calculates with two numbers: whole ones give a whole one, others a double. */
const calculating =
  (
    sign: string,
    ofDoubles: (left: number, right: number) => number,
    ofWhole: (left: bigint, right: bigint) => bigint | undefined,
  ): Binary =>
  (left, right) => {
    if (!isNumber(left) || !isNumber(right)) return noOverload(sign, [left, right])
    if (typeof left === 'number' || typeof right === 'number') {
      return ofDoubles(Number(left), Number(right))
    }
    const result = ofWhole(left, right)
    return result === undefined ? new Failure('division by zero') : whole(result)
  }

const sum = calculating(
  '+',
  (left, right) => left + right,
  (left, right) => left + right,
)

/** Adds numbers, and joins texts and lists. */
function joined(left: Value, right: Value, work: Work): Result {
  if (typeof left === 'string' && typeof right === 'string') {
    return work.takeText(left.length + right.length) ? left + right : SPENT
  }
  if (isList(left) && isList(right)) {
    return work.take(left.length + right.length) ? [...left, ...right] : SPENT
  }
  return sum(left, right, work)
}

/** The operators of two operands. */
export const BINARY: Readonly<Record<BinaryOperator, Binary>> = {
  '==': equal,
  '!=': unequal,
  in: isIn,
  '<': comparing('<', (left, right) => left < right),
  '<=': comparing('<=', (left, right) => left <= right),
  '>': comparing('>', (left, right) => left > right),
  '>=': comparing('>=', (left, right) => left >= right),
  '+': joined,
  '-': calculating(
    '-',
    (left, right) => left - right,
    (left, right) => left - right,
  ),
  '*': calculating(
    '*',
    (left, right) => left * right,
    (left, right) => left * right,
  ),
  '/': calculating(
    '/',
    (left, right) => left / right,
    (left, right) => (right === 0n ? undefined : left / right),
  ),
  '%': calculating(
    '%',
    (left, right) => left % right,
    (left, right) => (right === 0n ? undefined : left % right),
  ),
}

/** The operators of one operand. */
export const UNARY: Readonly<Record<UnaryOperator, (value: Value) => Result>> = {
  '!_': (value) => (typeof value === 'boolean' ? !value : noOverload('!', [value])),
  '-_': (value) => {
    if (typeof value === 'bigint') return whole(-value)
    return typeof value === 'number' ? -value : noOverload('-', [value])
  },
}

export const noOverload = (name: string, values: readonly Value[]): Failure =>
  new Failure(`no such overload: ${name} of ${values.map(typeName).join(', ')}`)

const TYPES: Readonly<Record<string, string>> = {
  number: 'double',
  bigint: 'int',
  boolean: 'bool',
  string: 'string',
}

const typeName = (value: Value): string =>
  TYPES[typeof value] ?? (isList(value) ? 'list' : value === null ? 'null' : 'map')
