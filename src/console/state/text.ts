// Texts of strangers: shown as they are, and unable to disturb what stands beside them.

import { jsonOf, textIn } from '#domain/record'
import type { Json } from '#domain/submission'

// Characters that change the order of letters around them, or show nothing at all.
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/** The text with its control characters made visible. */
export const visible = (text: string): string =>
  text.replace(INVISIBLE, (character) => {
    const code = character.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return `⟨${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })

/** The first characters of a text, with a sign that it goes on. */
export const cut = (text: string, max: number): string =>
  text.length > max ? `${text.slice(0, max)}…` : text

/** The value if it is a text; an empty one for everything else. */
export const textOf = (value: unknown): string => textIn(value) ?? ''

/** JSON to be written on, in which such characters are escapes. */
export const writable = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const WEB = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/** The address of a link; undefined for one that a page must not lead to, as `javascript:`. */
export function linkTarget(text: string): string | undefined {
  const url = URL.parse(text.trim())
  return url !== null && WEB.has(url.protocol) ? url.href : undefined
}

/** A value as plain text: texts as they are, everything else as JSON. */
export const plain = (value: Json | undefined): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')

/** A value as a person writes it: numbers, true, false and JSON as such, everything else a text. */
export function typedIn(text: string): Json {
  const written = text.trim()
  const value = jsonOf(written) as Json | undefined // JSON.parse gives nothing else
  return value === undefined ? written : value
}

/** The text that `typedIn` reads as the value. */
export const typed = (value: Json): string =>
  typeof value === 'string' && typedIn(value) === value ? value : JSON.stringify(value)
