// Fills a template with the values of a delivery: `{title} is {attrs.temperature}`.
//
//   {name} becomes a value, {{ and }} become braces; \n, \t and \\ work as in a shell's printf.
//   A value that a delivery does not have is empty; a value that is no text is JSON.

import type { Fields, Json } from '#domain/submission'
import { dateText, onOneLine } from '#src/cli/terminal-text'
import { BadValue } from '#src/cli/command'
import { MEMBERS } from './delivery-members.ts'
import type { Member, Named } from './delivery-members.ts'

export type Template = (named: Named) => string

const { replay: _, payload, plaintext, ...FACTS } = MEMBERS

/** Names beside `payload.…`, and beside `attrs.…` for `payload.attrs.…`. */
const VALUES: Readonly<Record<string, Member>> = {
  time: ({ delivery }) => dateText(delivery.acceptedAt),
  ...FACTS,
  title: ({ delivery }) => delivery.payload['title'],
  body: ({ delivery }) => delivery.payload['body'],
  severity: ({ delivery }) => delivery.payload['severity'],
  plaintext,
  payload,
}

export const TEMPLATE_NAMES = [...Object.keys(VALUES), 'payload.<name>', 'attrs.<key>']

const PART = /\{\{|\}\}|\\[nt\\]|\{([^{}]*)\}|[{}]/g
const LITERALS: Readonly<Record<string, string>> = {
  '{{': '{',
  '}}': '}',
  '\\n': '\n',
  '\\t': '\t',
  '\\\\': '\\',
}

/** Reads a template. Throws BadValue for a single brace, and for an unknown name. */
export function readTemplate(text: string): Template {
  const parts: (string | Member)[] = []
  let at = 0
  for (const found of text.matchAll(PART)) {
    parts.push(text.slice(at, found.index))
    parts.push(partOf(found[0], found[1]))
    at = found.index + found[0].length
  }
  parts.push(text.slice(at))
  return (named) =>
    parts.map((part) => (typeof part === 'string' ? part : textOf(part(named) ?? ''))).join('')
}

function partOf(part: string, name: string | undefined): string | Member {
  const literal = LITERALS[part]
  if (literal !== undefined) return literal
  if (name === undefined) throw new BadValue('write a brace by itself twice: {{ or }}')
  const value = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined
  if (value !== undefined) return value
  const [first, ...path] = name.split('.')
  if (first === 'payload' && path.length > 0)
    return ({ delivery }) => valueAt(delivery.payload, path)
  if (first === 'attrs') return ({ delivery }) => valueAt(delivery.payload, ['attrs', ...path])
  throw new BadValue(`allowed between braces: ${TEMPLATE_NAMES.join(', ')}`)
}

/** The value at a path; empty where there is none. */
function valueAt(fields: Fields, path: readonly string[]): Json {
  let value: Json = fields
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return ''
    value = (value as Fields)[name] ?? ''
  }
  return value
}

/** A value on one line: it comes from others and must not look like a second delivery. */
const textOf = (value: Json): string =>
  onOneLine(typeof value === 'string' ? value : JSON.stringify(value))
