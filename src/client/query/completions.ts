// What may stand at a place in the text of a query, for a field that completes it.

import { THING_STATES } from '#domain/entity'
import { JOINERS, KEYWORDS, OPERATORS, isKeyword, nameText, quoted, valueText } from './words.ts'
import type { Keyword } from './words.ts'

/** What is known of the Things that a query is about. */
export interface Known {
  readonly attrs: readonly string[]
  readonly tags?: readonly string[]
  /** Values that an attr has. */
  readonly values?: (attr: string) => readonly (string | number | boolean)[]
}

export interface Completion {
  readonly kind: 'attr' | 'keyword' | 'joiner' | 'operator' | 'value'
  /** What a list shows. */
  readonly label: string
  /** What replaces the text between `from` and the caret. */
  readonly insert: string
}

export interface Completions {
  readonly from: number
  readonly items: readonly Completion[]
}

const ITEMS_MAX = 50
const DURATIONS = ['1m', '10m', '1h', '1d']

interface Token {
  readonly text: string
  readonly at: number
}

const TOKEN = /"(?:[^"\\]|\\[^])*"?|[()]|[<>=!]+|[^\s"()<>=!]+/g

/** What may stand at the caret, the best first; at most 50. */
export function completionsAt(text: string, caret: number, known: Known): Completions {
  const before = text.slice(0, caret)
  const tokens = [...before.matchAll(TOKEN)].map((found) => ({ text: found[0], at: found.index }))
  const last = tokens.at(-1)
  const isTouching = last !== undefined && last.at + last.text.length === caret
  const isOpen = isTouching && !/^[()<>=!]/.test(last.text)
  const done = isOpen ? tokens.slice(0, -1) : tokens
  const typed = isOpen ? last : { text: '', at: caret }
  const { from, items } = candidates(typed, done, known)
  const wanted = plain(before.slice(from))
  const starts = items.filter(({ label }) => label.toLowerCase().startsWith(wanted))
  const others = items.filter(({ label }) => label.toLowerCase().indexOf(wanted) > 0)
  return { from, items: [...starts, ...others].slice(0, ITEMS_MAX) }
}

/** What was typed, without the quotes and without case. */
const plain = (typed: string): string => typed.replaceAll(/["\\]/g, '').toLowerCase()

function candidates(typed: Token, done: readonly Token[], known: Known): Completions {
  const previous = done.at(-1)
  const isBehind = previous !== undefined && previous.at + previous.text.length === typed.at
  // A text in quotes directly behind a colon or a comma.
  const joined = isBehind && /[:,]$/.test(previous.text) ? previous : undefined
  const whole = joined === undefined ? typed.text : joined.text + typed.text
  const at = joined?.at ?? typed.at
  const keyword = whole
    .slice(0, Math.max(0, whole.indexOf(':')))
    .replace(/^-/, '')
    .toLowerCase()
  if (isKeyword(keyword) && !whole.startsWith('"')) {
    const from = Math.max(whole.indexOf(':'), whole.lastIndexOf(',')) + 1
    return { from: at + from, items: valuesOf(keyword, known) }
  }
  if (previous !== undefined && /^[<>=!]/.test(previous.text)) {
    const name = plainName(done.at(-2)?.text ?? '')
    const values = [...new Set([...(known.values?.(name) ?? []), true, false])]
    // Only numbers are above or below something.
    const isOrdered = /^[<>]/.test(previous.text)
    const fitting = values.filter((value) => !isOrdered || typeof value === 'number')
    return { from: typed.at, items: fitting.map(asValue) }
  }
  const minus = typed.text.startsWith('-') ? 1 : 0
  const isNamed = previous !== undefined && known.attrs.includes(plainName(previous.text))
  const operators = typed.text === '' && isNamed ? OPERATORS.map(asOperator) : []
  return { from: typed.at + minus, items: [...operators, ...termsOf(known)] }
}

const plainName = (text: string): string =>
  text.startsWith('"') ? text.slice(1, -1).replaceAll(/\\([^])/g, '$1') : text.replace(/^-/, '')

function valuesOf(keyword: Keyword, { attrs, tags = [] }: Known): readonly Completion[] {
  if (keyword === 'state') return THING_STATES.map(asText)
  if (keyword === 'tag') return tags.map(asText)
  if (keyword === 'silent') return DURATIONS.map(asText)
  if (keyword !== 'has' && keyword !== 'missing') return []
  // A comma would stand between two names.
  const insertOf = (name: string): string => (name.includes(',') ? quoted(name) : nameText(name))
  return attrs.map((name) => ({ kind: 'value', label: name, insert: `${insertOf(name)} ` }))
}

const termsOf = ({ attrs }: Known): readonly Completion[] => [
  ...attrs.map((name) => ({ kind: 'attr' as const, label: name, insert: `${nameText(name)} ` })),
  ...Object.keys(KEYWORDS).map((word) => ({
    kind: 'keyword' as const,
    label: `${word}:`,
    insert: `${word}:`,
  })),
  ...JOINERS.map((word) => ({ kind: 'joiner' as const, label: word, insert: `${word} ` })),
]

const asText = (value: string): Completion => ({
  kind: 'value',
  label: value,
  insert: `${valueText(value)} `,
})

const asValue = (value: string | number | boolean): Completion =>
  typeof value === 'string'
    ? asText(value)
    : { kind: 'value', label: String(value), insert: `${value} ` }

const asOperator = (sign: string): Completion => ({
  kind: 'operator',
  label: sign,
  insert: `${sign} `,
})
