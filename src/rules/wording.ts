// The texts of an Event or a Message: `{name}` stands for a value of the Thing.

import { shortened } from '#domain/push/entry-text'
import type { Fields, Json } from '#domain/submission'
import { valueAt } from './conditions.ts'
import type { Facts } from './conditions.ts'
import type { Work } from './work.ts'

/** What a text may name beside the values of the Thing. */
interface WordingFacts extends Pick<Facts, 'id' | 'title' | 'attrs' | 'work'> {
  readonly ruleId: string
  /** The time since when the condition holds. */
  readonly since: number
}

/** Fills a text; bounded in length. */
export type Wording = (facts: WordingFacts) => string

/** Characters of one value, and of a whole text. */
const VALUE_MAX = 256
const TEXT_MAX = 2_048

const NAME = /\{([^{}]{1,256})\}/g

/**
 * Compiles a text. A name without a value becomes `?`: a reader sees that it is missing. So does
 * one whose value is blank, as titles are never blank, and a list or an object without steps left.
 */
export function compileWording(text: string): Wording {
  if (!text.includes('{')) return () => text
  const filled = (facts: WordingFacts): string =>
    text.replace(NAME, (_, name: string) => valueOf(name, facts))
  return (facts) => shortened(filled(facts), TEXT_MAX)
}

function valueOf(name: string, facts: WordingFacts): string {
  switch (name) {
    case 'thing.id':
      return facts.id
    case 'thing.title':
      return facts.title
    case 'rule.id':
      return facts.ruleId
    case 'since':
      return timeText(facts.since)
    default:
      return textOf(valueNamed(name, facts.attrs), facts.work)
  }
}

/** Returns a time as ISO 8601 to the second; the texts must not depend on a time zone. (W3) */
function timeText(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '?' : `${date.toISOString().slice(0, 19)}Z`
}

const valueNamed = (name: string, attrs: Fields): Json | undefined =>
  valueAt([name])(attrs) ?? valueAt(name.split('.'))(attrs)

function textOf(value: Json | undefined, work: Work): string {
  if (value === undefined || value === null) return '?'
  const text = typeof value === 'object' ? jsonOf(value, work) : String(value)
  return text.trim() === '' ? '?' : shortened(text, VALUE_MAX)
}

/** The steps of a list or an object are known once it is written: the next one gets none. */
function jsonOf(value: object, work: Work): string {
  if (work.isSpent) return '?' // work/1
  const text = JSON.stringify(value)
  work.takeText(text.length)
  return text
}
