// The parameters of the topic style: each has names, which stand in headers, in the query, or as a
// member of a JSON body.

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { storable } from '#src/compat/extras'

/** Names in the order in which they are tried; the first that is not blank counts. */
const ALIASES = {
  message: ['x-message', 'message', 'm'],
  title: ['x-title', 'title', 't'],
  priority: ['x-priority', 'priority', 'prio', 'p'],
  tags: ['x-tags', 'tags', 'tag', 'ta'],
  click: ['x-click', 'click'],
  icon: ['x-icon', 'icon'],
  attach: ['x-attach', 'attach', 'a'],
  filename: ['x-filename', 'filename', 'file', 'f'],
  actions: ['x-actions', 'actions', 'action'],
  markdown: ['x-markdown', 'markdown', 'md'],
  delay: ['x-delay', 'delay', 'x-at', 'at', 'x-in', 'in'],
  email: ['x-email', 'x-e-mail', 'email', 'e-mail', 'mail', 'e'],
  call: ['x-call', 'call'],
  cache: ['x-cache', 'cache'],
  firebase: ['x-firebase', 'firebase'],
  unifiedpush: ['x-unifiedpush', 'unifiedpush', 'up'],
  poll_id: ['x-poll-id', 'poll-id'],
  template: ['x-template', 'template', 'tpl'],
  sequence_id: ['x-sequence-id', 'sequence-id', 'sid'],
  poll: ['x-poll', 'poll', 'po'],
  since: ['x-since', 'since', 'si'],
  id: ['x-id', 'id'],
} as const

export type TopicParameter = keyof typeof ALIASES

/** Every name of a parameter, in the order in which they are tried. */
export const namesOf = (name: TopicParameter): readonly string[] => ALIASES[name]

/** The value of a parameter, trimmed; '' when it was not sent. */
export type TopicParameters = (name: TopicParameter) => string

const OF_SUBSCRIBERS = ['poll', 'since', 'id'] as const
const OF_FILTERS = ['message', 'title', 'priority', 'tags'] as const

/** Every header that may hold a parameter of a publication, or says what its body is. */
export const TOPIC_HEADERS: readonly string[] = [
  ...Object.entries(ALIASES).flatMap(([name, aliases]) =>
    OF_SUBSCRIBERS.some((known) => known === name) ? [] : aliases,
  ),
  'content-type',
  'content-encoding',
]

/** Every header that may hold a parameter of a subscription. */
export const SUBSCRIPTION_HEADERS: readonly string[] = [...OF_SUBSCRIBERS, ...OF_FILTERS].flatMap(
  (name) => ALIASES[name],
)

/** The Priority header of a browser or proxy, which is no parameter. (RFC 9218) */
const URGENCY = /^u=\d(\s*,\s*(i|\d))?$/

/** Parameters in headers and query: a header wins, under whichever of its names. */
export function parametersOf(
  headers: Readonly<Record<string, string>>,
  query: URLSearchParams,
): TopicParameters {
  return (name) => {
    for (const alias of ALIASES[name]) {
      const value = textOfHeader(headers[alias] ?? '').trim()
      if (value !== '' && !(alias === 'priority' && URGENCY.test(value))) return value
    }
    for (const alias of ALIASES[name]) {
      const value = query.get(alias)?.trim() ?? ''
      if (value !== '') return value
    }
    return ''
  }
}

const TEXTS = ['message', 'title', 'click', 'attach', 'icon', 'filename', 'delay', 'email'] as const
const MORE_TEXTS = ['call', 'cache', 'firebase', 'sequence_id'] as const

export interface JsonPublication {
  readonly topic: string
  readonly parameters: TopicParameters
}

/** A JSON body: its members win over headers and query. */
export function readJsonPublication(
  body: unknown,
  around: TopicParameters,
): Answer<JsonPublication> {
  if (!isRecord(body)) return wrongType('the body', 'an object')
  const values = new Map<TopicParameter, string>()
  for (const name of [...TEXTS, ...MORE_TEXTS]) {
    const value = body[name] ?? ''
    if (typeof value !== 'string') return wrongType(name, 'a text')
    values.set(name, value.trim())
  }
  for (const [name, read] of Object.entries(NOT_TEXTS)) {
    const value = body[name] ?? undefined
    const text = value === undefined ? '' : read(value)
    if (isFault(text)) return text
    values.set(name as TopicParameter, text)
  }
  const sent = body['topic'] ?? ''
  if (typeof sent !== 'string') return wrongType('topic', 'a text')
  const topic = storable(sent)
  const parameters: TopicParameters = (name) => {
    const value = values.get(name) ?? ''
    return value === '' ? around(name) : value
  }
  return { topic, parameters }
}

const NOT_TEXTS: Partial<Record<TopicParameter, (value: unknown) => Answer<string>>> = {
  priority: (value) =>
    Number.isInteger(value) ? numberText(value) : wrongType('priority', 'a whole number'),
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => typeof tag === 'string')
      ? value.join(',')
      : wrongType('tags', 'an array of texts'),
  actions: (value) =>
    Array.isArray(value) && value.every(isRecord)
      ? JSON.stringify(value)
      : wrongType('actions', 'an array of objects'),
  markdown: (value) =>
    typeof value === 'boolean' ? String(value) : wrongType('markdown', 'true or false'),
}

/** A number as text. Programs send zero for no priority. */
const numberText = (value: unknown): string => (value === 0 ? '' : String(value))

const wrongType = (field: string, rule: string) =>
  fault('invalid_json_data', { field, detail: `${field} must be ${rule}` })

/** 1, yes and true in any case. */
export const isYes = (value: string): boolean => /^(1|yes|true)$/i.test(value)

/** Whatever else was sent says no. */
export const isNo = (value: string): boolean => value !== '' && !isYes(value)

const WORD = /=\?([^?\s]+)\?([BbQq])\?([^?\s]*)\?=/g
/** White space between two words is no part of the text. (RFC 2047, 6.2) */
const BETWEEN_WORDS = /(=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=)[ \t\r\n]+(?==\?[^?\s]+\?[BbQq]\?)/g

const NOT_ASCII = /[\x80-\xff]/

// Text in a header that is not ASCII is raw UTF-8, or `=?charset?B or Q?…?=` of RFC 2047.

/**
 * The text of a header, which the HTTP library gives with each byte as one character. An unreadable
 * word stays as it was sent.
 */
function textOfHeader(header: string): string {
  const text = NOT_ASCII.test(header)
    ? (decode(Buffer.from(header, 'latin1'), 'utf-8') ?? header)
    : header
  if (!text.includes('=?')) return text
  return text
    .replace(BETWEEN_WORDS, '$1')
    .replace(WORD, (word: string, charset: string, encoding: string, sent: string) => {
      const bytes = encoding.toLowerCase() === 'b' ? Buffer.from(sent, 'base64') : quoted(sent)
      // RFC 2231, 5: a language may follow the charset.
      return decode(bytes, charset.split('*', 1)[0] ?? '') ?? word
    })
}

function quoted(text: string): Buffer {
  const latin1 = text
    .replaceAll('_', ' ')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return Buffer.from(latin1, 'latin1')
}

function decode(bytes: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    return undefined // The charset is unknown, or the bytes are not valid in it.
  }
}
