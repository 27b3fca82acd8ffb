// What a person may do with a Message: the actions of the topic style, kept in its metadata under
// `compat.topic.actions` in the short form or as JSON. (docs/console.md)
//
//   view, Open the door, https://door.example
//   action=http, label="Turn it off", url=https://lamp.example/off, method=PUT, clear=true

import { bare, isRecord, jsonOf } from '#domain/record'
import type { Fields, Json } from '#domain/submission'

/** The name of the actions in the metadata of a Message. */
export const ACTIONS_KEY = 'compat.topic.actions'
/** As many as that style's subscribers show. */
const ACTIONS_MAX = 3

const KINDS: ReadonlySet<unknown> = new Set(['view', 'broadcast', 'http', 'copy'])
const LABEL_MAX = 100

/** Opens an address. */
interface ViewAction {
  readonly kind: 'view'
  readonly label: string
  readonly url: string
}

/** Sends a request, from the person's own device. */
export interface HttpAction {
  readonly kind: 'http'
  readonly label: string
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type MessageAction = ViewAction | HttpAction

/** Returns the actions in a text, as that style's subscribers read them; none for a bad text. */
export function actionsIn(text: unknown): readonly Fields[] {
  if (typeof text !== 'string') return []
  const sent = text.trim()
  const listed: unknown = sent.startsWith('[') ? jsonOf(sent) : shortActions(sent)
  if (!Array.isArray(listed)) return []
  return (listed as readonly Json[])
    .filter((one): one is Fields => isRecord(one) && KINDS.has(one['action']))
    .slice(0, ACTIONS_MAX)
}

const SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:'])
const METHOD = /^[A-Z]{1,16}$/

/**
 * Returns those that a browser may offer: `view` of an address of the web, of mail or of a phone,
 * and `http` to the web. Every other scheme, as `javascript:`, is left out.
 */
export function offeredActions(text: unknown): readonly MessageAction[] {
  return actionsIn(text).flatMap((sent): readonly MessageAction[] => {
    const { action, label, url: address, method, headers, body } = sent
    const url = typeof address === 'string' ? URL.parse(address.trim()) : null
    if (url === null || typeof label !== 'string' || label.trim() === '') return []
    if (!SCHEMES.has(url.protocol)) return []
    const shown = { label: label.trim().slice(0, LABEL_MAX), url: url.href }
    if (action === 'view') return [{ kind: 'view', ...shown }]
    const verb = typeof method === 'string' && method !== '' ? method.toUpperCase() : 'POST'
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
    if (action !== 'http' || !isWeb || !METHOD.test(verb)) return []
    const content = typeof body === 'string' ? body : ''
    return [{ kind: 'http', ...shown, method: verb, headers: textsOf(headers), body: content }]
  })
}

function textsOf(headers: Json | undefined): Readonly<Record<string, string>> {
  const sent = isRecord(headers) ? Object.entries(headers) : []
  return Object.fromEntries(
    sent.filter((one): one is [string, string] => typeof one[1] === 'string'),
  )
}

// A field: perhaps its name, a value in quotes or bare, and the sign after it.
const PIECE = new RegExp(
  [
    /\s*(?:([A-Za-z][\w.-]*)\s*=\s*)?/,
    /(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,;]*))/,
    /\s*([,;]|$)/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gy',
)
const POSITIONS = ['action', 'label', 'url'] as const

/** Reads the short form; undefined for a text that is not of it. */
function shortActions(text: string): readonly Fields[] | undefined {
  const actions = [bare<Json>()]
  let position = 0
  let end = 0
  for (const match of text.matchAll(PIECE)) {
    const [whole, key, double, single, open = '', sign] = match
    end = match.index + whole.length
    const quoted = double ?? single
    const value = quoted === undefined ? open.trim() : quoted.replace(/\\(.)/gs, '$1')
    const name = key ?? POSITIONS[position]
    if (value !== '' || quoted !== undefined) {
      if (name === undefined) return undefined
      put(actions.at(-1) ?? bare<Json>(), name, value)
    }
    position += 1
    if (sign === ';') {
      actions.push(bare<Json>())
      position = 0
    }
    if (sign === '') break
  }
  return end < text.length ? undefined : actions.filter((one) => Object.keys(one).length > 0)
}

/** `headers.x=y` and `extras.x=y` are members of an object. */
function put(action: Record<string, Json>, name: string, value: string): void {
  const [, of, member] = /^(headers|extras)\.(.+)$/.exec(name) ?? []
  if (of !== undefined && member !== undefined) {
    const known = isRecord(action[of]) ? action[of] : {}
    action[of] = Object.assign(bare<Json>(), known, { [member]: value })
  } else action[name] = name === 'clear' ? value === 'true' : value
}
