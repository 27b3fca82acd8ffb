// Expressions for tests: the library's own evaluation, values that are hard on an evaluation, and
// random expressions over them.

import { Environment } from '@marcbachmann/cel-js'
import * as fc from 'fast-check'

import { bare } from '#domain/record'
import type { Fields, Json } from '#domain/submission'
import { compileExpression } from '#src/rules/expression'
import type { Expression } from '#src/rules/expression'
import { Sent, Wrong } from '#src/rules/reading'
import { READING_STEPS_MAX, Work } from '#src/rules/work'

export const THING = { id: 'a', title: 'A' }

/** Makes attrs as a Thing has them. */
export const attrsOf = (values: object): Fields => Object.assign(bare<Json>(), values)

/** Compiles an expression; undefined when it is refused. */
export function expressionOf(text: string): Expression | undefined {
  try {
    return compileExpression(new Sent(text, 'cel'))
  } catch (error) {
    if (error instanceof Wrong) return undefined
    throw error
  }
}

/** Evaluates an expression that is right; gives the verdict and the steps that it took. */
export function evaluated(
  text: string,
  attrs: Fields,
  work = new Work(READING_STEPS_MAX),
): { readonly verdict: boolean | string; readonly steps: number } {
  const expression = expressionOf(text)
  if (expression === undefined) throw new Error(`refused: ${text}`)
  return { verdict: expression.evaluate({ attrs, thing: THING, work }), steps: work.taken }
}

function libraryEnvironment(): Environment {
  const made = new Environment().registerVariable('attrs', 'map').registerVariable('thing', 'map')
  const calculate = {
    '+': (one: number, other: number) => one + other,
    '-': (one: number, other: number) => one - other,
    '*': (one: number, other: number) => one * other,
    '/': (one: number, other: number) => one / other,
    '%': (one: number, other: number) => one % other,
  }
  for (const [sign, result] of Object.entries(calculate)) {
    const ofNumbers = (one: number | bigint, other: number | bigint): number =>
      result(Number(one), Number(other))
    made.registerOperator(`double ${sign} int`, ofNumbers)
    made.registerOperator(`int ${sign} double`, ofNumbers)
  }
  return made.registerOperator('double % double', calculate['%'])
}

const library = libraryEnvironment()

/** What the library gives for an expression; undefined when it fails. */
export function byLibrary(text: string, attrs: Fields): unknown {
  const present = Object.entries(attrs).filter(([, value]) => value !== null)
  try {
    return library.parse(text)({ attrs: attrsOf(Object.fromEntries(present)), thing: THING })
  } catch {
    return undefined
  }
}

const NAMES = ['n', 'i', 's', 'u', 'l', 'k', 'o', 'z']

type Kinds = Record<'num' | 'text' | 'bool' | 'list', string>

/** Random expressions of each type, over the values that attrs and an item `x` have. */
const kinds = (isWithin: boolean): fc.LetrecValue<Kinds> =>
  fc.letrec<Kinds>((tie) => {
    const [num, text, bool, list] = [tie('num'), tie('text'), tie('bool'), tie('list')]
    const item = isWithin ? ['x', 'x'] : []
    const leaves = (...texts: string[]) => fc.constantFrom(...texts, ...item, 'attrs.z')
    const two = (of: fc.Arbitrary<string>, ...signs: string[]) =>
      fc.tuple(of, fc.constantFrom(...signs), of).map(([a, sign, b]) => `dyn(${a}) ${sign} (${b})`)
    const of = (made: fc.Arbitrary<string>, ...forms: string[]) =>
      fc.tuple(made, fc.constantFrom(...forms)).map(([a, form]) => form.replace('@', () => a))
    const loops = (name: string, ...others: fc.Arbitrary<string>[]) =>
      isWithin
        ? []
        : [fc.tuple(list, ...others).map(([a, ...b]) => `(${a}).${name}(x, ${b.join(', ')})`)]
    const within = isWithin ? undefined : kinds(true)
    const [itemBool = bool, itemNum = num] = [within?.bool, within?.num]
    return {
      num: fc.oneof(
        { maxDepth: 3 },
        leaves('attrs.n', 'attrs.i', '1', '-2', '1.5', 'attrs.l[0]', 'attrs.o.k'),
        two(num, '+', '-', '*', '/', '%'),
        of(num, '-(@)', 'int(@)', 'double(@)'),
        of(text, 'size(@)', 'int(@)', 'double(@)'),
        of(list, 'size(@)', '(@)[0]', '(@)[1]'),
        fc.tuple(bool, num, num).map(([a, b, c]) => `(${a} ? dyn(${b}) : dyn(${c}))`),
      ),
      text: fc.oneof(
        { maxDepth: 3 },
        leaves('attrs.s', 'attrs.u', 'thing.id', '"ab"', '""', 'attrs["u"]'),
        two(text, '+'),
        of(text, '(@).upperAscii()', '(@).lowerAscii()', '(@).trim()'),
        of(num, 'string(@)'),
      ),
      bool: fc.oneof(
        { maxDepth: 4 },
        leaves('true', 'has(attrs.o.k)', 'has(attrs.gone)', '"n" in attrs', 'attrs.o == {"k": 1}'),
        two(bool, '&&', '||', '=='),
        two(num, '<', '<=', '>', '>=', '==', '!='),
        two(text, '<', '>=', '==', '!='),
        two(list, '==', '!='),
        fc.tuple(num, list).map(([a, b]) => `dyn(${a}) in dyn(${b})`),
        fc
          .tuple(text, fc.constantFrom('contains', 'startsWith', 'endsWith'), text)
          .map(([a, name, b]) => `(${a}).${name}(${b})`),
        of(bool, '!(@)', 'bool(string(@))'),
        ...['all', 'exists', 'exists_one'].flatMap((name) => loops(name, itemBool)),
      ),
      list: fc.oneof(
        { maxDepth: 2 },
        leaves('attrs.l', 'attrs.k', 'attrs.o', '[1, 2]', '[attrs.n, attrs.s]'),
        two(list, '+'),
        ...loops('filter', itemBool),
        ...loops('map', itemNum),
        ...loops('map', itemBool, itemNum),
      ),
    }
  })

/** Random expressions; some of them are refused. */
export const expressions = kinds(false).bool

const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, 1, 2, 1.5, -3, 'ab', 'AB', '', '1', '中𝄞'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('ab', 'k'), tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).value

// A letter without a case: the library changes others than ASCII, which the language leaves.
const word = fc.constantFrom('ab', 'AB', '', '1', '中𝄞', ' b')
const list = fc.array(json, { maxLength: 4 })
const number = fc.constantFrom(0, 1, 2, 1.5, -3)

/** Small values: mostly of the types that the expressions are for. */
export const smallAttrs = fc
  .tuple(
    number,
    number,
    word,
    word,
    list,
    list,
    fc.record({ k: json }, { noNullPrototype: true }),
    json,
  )
  .chain((typed) =>
    fc.tuple(...typed.map((value) => fc.oneof({ arbitrary: fc.constant(value), weight: 9 }, json))),
  )
  .map((values) => attrsOf(Object.fromEntries(NAMES.map((name, at) => [name, values[at] ?? null]))))

/** As much as a Thing holds: texts that nearly match, long and deep lists, many names. */
const hostile = fc.oneof(
  fc
    .tuple(fc.integer({ min: 0, max: 60_000 }), fc.constantFrom('a', 'é', 'ab'))
    .map(([length, text]): Json => text.repeat(length / text.length)),
  fc.integer({ min: 0, max: 30_000 }).map((length): Json => `${'a'.repeat(length)}b`),
  fc.integer({ min: 0, max: 20_000 }).map((length): Json => Array<number>(length).fill(1)),
  fc
    .integer({ min: 0, max: 3_000 })
    .map((length): Json => Array<string>(length).fill('a'.repeat(9))),
  fc
    .integer({ min: 0, max: 6_000 })
    .map((count): Json =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 1])),
    ),
)

export const hostileAttrs = fc
  .array(hostile, { minLength: NAMES.length, maxLength: NAMES.length })
  .map((values) => attrsOf(Object.fromEntries(NAMES.map((name, at) => [name, values[at] ?? null]))))
