// Whether a Thing meets a condition of a query. The page decides what its own copy of the Things
// tells; silence, places and expressions are terms that the gateway is asked about.

import type { AttrPath, Where } from '#domain/rules/condition'
import { isRecord } from '#domain/record'
import type { Fields, Json } from '#domain/submission'
import type { ThingView } from '#src/client/view'
import { plain } from '#console/state/text.ts'

/** True or false; undefined for a Thing without the value, as for the gateway. */
type Verdict = boolean | undefined
type Test = (thing: ThingView, answers: Answers) => Verdict

/** What the gateway said of terms: by the JSON of a term the verdicts by the ids of Things. */
export type Answers = ReadonlyMap<string, ReadonlyMap<string, boolean>>

const isAsked = (where: Where): boolean => 'silent' in where || 'cel' in where || 'near' in where

const partsOf = (where: Where): readonly Where[] => {
  if ('all' in where) return where.all
  if ('any' in where) return where.any
  return 'not' in where ? [where.not] : []
}

/** The terms of a condition, and the terms of its parts. */
export const termsOf = (where: Where): readonly Where[] => [
  where,
  ...partsOf(where).flatMap((part) => termsOf(part)),
]

/** The terms that the gateway is asked about. */
export const askedTerms = (where: Where): readonly Where[] => termsOf(where).filter(isAsked)

/** Makes a test of a condition. Of a term that the gateway has not answered nothing is known. */
export function testOf(where: Where): Test {
  if (isAsked(where)) {
    const key = JSON.stringify(where)
    return ({ id }, answers) => answers.get(key)?.get(id)
  }
  if ('all' in where) return joined(where.all, false)
  if ('any' in where) return joined(where.any, true)
  if ('not' in where) {
    const test = testOf(where.not)
    return (thing, answers) => {
      const verdict = test(thing, answers)
      return verdict === undefined ? undefined : !verdict
    }
  }
  if ('attr' in where) return attrTest(where)
  if ('state' in where) return ({ state }) => state === where.state
  if ('tag' in where) return (thing) => tagsOf(thing).includes(where.tag)
  if ('prefix' in where) return ({ id }) => id.startsWith(where.prefix)
  return 'text' in where ? wordTest(where.text.toLowerCase()) : () => undefined
}

/** `decides`: the verdict of a part that decides the whole. */
function joined(parts: readonly Where[], decides: boolean): Test {
  const tests = parts.map((part) => testOf(part))
  return (thing, answers) => {
    let whole: Verdict = !decides
    for (const test of tests) {
      const verdict = test(thing, answers)
      if (verdict === decides) return decides
      if (verdict === undefined) whole = undefined
    }
    return whole
  }
}

const tagsOf = ({ fields: { tags } }: ThingView): readonly Json[] =>
  Array.isArray(tags) ? (tags as readonly Json[]) : []

/** A word is a part of the title, the description or the id, or a tag; without case. */
const wordTest =
  (word: string): Test =>
  (thing) => {
    const { title, description } = thing.fields
    return (
      [title, description, thing.id].some((text) => plain(text).toLowerCase().includes(word)) ||
      tagsOf(thing).some((tag) => plain(tag).toLowerCase() === word)
    )
  }

function valueAt(path: AttrPath, attrs: Fields): Json | undefined {
  let value: Json | undefined = attrs
  for (const name of typeof path === 'string' ? [path] : path) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name] as Json
  }
  return value ?? undefined
}

function attrTest(where: Extract<Where, { readonly attr: AttrPath }>): Test {
  const holds = comparisonOf(where)
  return ({ attrs }) => {
    const value = valueAt(where.attr, attrs)
    if ('absent' in where) return value === undefined
    return value === undefined ? undefined : holds(value)
  }
}

function comparisonOf(where: Extract<Where, { readonly attr: AttrPath }>) {
  const ofNumber = (holds: (value: number) => boolean) => (value: Json) =>
    typeof value === 'number' ? holds(value) : undefined
  if ('above' in where) return ofNumber((value) => value > where.above)
  if ('below' in where) return ofNumber((value) => value < where.below)
  if ('inside' in where || 'outside' in where) {
    const [low, high] = 'inside' in where ? where.inside : where.outside
    return ofNumber((value) => (value >= low && value <= high) === 'inside' in where)
  }
  if ('equals' in where) return (value: Json) => value === where.equals
  return (value: Json) => 'not_equals' in where && value !== where.not_equals
}
