// Regular expressions of ECMA-262 for the texts that the gateway takes, for the OpenAPI document.
// The readers of requests decide; a test compares both.

/** The characters that trimming removes, as the inside of a character class. */
const SPACE = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'
const ASCII_SPACE = '\\t-\\r '
/** ASCII without NUL and without white space. */
const ASCII_VISIBLE = '\\u0001-\\u0008\\u000e-\\u001f!-\\u007f'

/** Nothing but white space, which counts as absent. */
export const BLANK = `^[${SPACE}]*$` as const
/** Any text without NUL. JSON in UTF-8 has no half of a surrogate pair. */
export const ANY_TEXT = '^[^\\u0000]*$'
/** Any text that has more than white space and NUL, which is left out. */
export const VISIBLE_TEXT = `[^${SPACE}\\u0000]`
/** Any text without NUL that has more than white space. */
export const NOT_BLANK = `^[^\\u0000]*[^${SPACE}\\u0000][^\\u0000]*$`

/** This form and nothing around it. */
export const exactly = (form: string): string => `^(?:${form})$`

/** This form between optional white space. */
export const trimmed = (form: string): string => `^[${SPACE}]*(?:${form})[${SPACE}]*$`

/** This form between optional white space, or nothing. */
export const trimmedOrBlank = (form: string): string => trimmed(`(?:${form})?`)

/** At most so many characters between optional white space, none of them NUL. */
export const atMost = (charactersMax: number): string => trimmed(`[^\\u0000]{0,${charactersMax}}`)

/** One of these words of ASCII, in upper or lower case. */
export const anyCase = (words: readonly string[]): string =>
  words
    .map((word) => word.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`))
    .join('|')

export const ENTITY_ID_FORM = '[A-Za-z0-9_:-]{1,64}'
export const OPERATION_ID_FORM = '[A-Za-z0-9_:-]{1,128}'
/** A duration such as `10m`. */
export const DURATION_FORM = '[1-9][0-9]{0,6}[smhd]'
export const DEVICE_KEY_FORM = '[0-9a-f]{32}'
export const KEY_ID_FORM = '[0-9a-f]{32}'
export const SUBSCRIBER_ID_FORM = '[0-9a-f]{32}'
/** The beginning of a thing_id. */
export const PREFIX_FORM = '[A-Za-z0-9_:-]{1,128}'

const GAP = `[${ASCII_SPACE}-]*`
/** A channel id in any spelling; the reader takes up to 256 characters. */
export const CHANNEL_ID = `^${GAP}(?:[0-9A-TV-Za-tv-z]${GAP}){25}[048CGMORWcgmorw]${GAP}$`
export const CHANNEL_ID_CHARACTERS_MAX = 256

const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f'
const VISIBLE = `[^${SPACE}${CONTROL}]`
/** 1 to 128 characters without control characters, between optional white space. */
export const CHANNEL_NAME_FORM = `${VISIBLE}(?:[^${CONTROL}]{0,126}${VISIBLE})?`

/** The canonical channel id with the number of an entry in its feed. */
export const DELIVERY_ID_FORM = '[0-9A-HJKMNP-TV-Z]{25}[048CGMRW]-[1-9][0-9]{0,14}'
export const CURSOR_FORM = 'c(?:0|[1-9a-z][0-9a-z]{0,9})'

/** The address of a web page, in any characters but NUL. */
export const WEB_URL_FORM = `(?:${anyCase(['http', 'https'])})://[^${SPACE}\\u0000][^\\u0000]*`

const NOT_JSON = `[^\\[${SPACE}][\\s\\S]*`
/** Between brackets JSON knows four kinds of white space. */
const EMPTY_LIST = `\\[[ \\t\\n\\r]*\\][${SPACE}]*`
/** A text that is not JSON, or an empty list. */
export const SHORT_ACTIONS = `^[${SPACE}]*(?:${NOT_JSON}|${EMPTY_LIST})?$`

/** Keys between commas, of which one is not blank. */
export const KEYS_BETWEEN_COMMAS = `[^,${SPACE}\\u0000]`

/** A time as text: up to 11 digits of seconds, or 13 or 14 digits of milliseconds. */
export const TIME_FORM = '\\+?0*(?:[0-9]{1,11}|[1-9][0-9]{12,13})(?:\\.[0-9]+)?'
/** A whole number from 0 as text. */
export const WHOLE_FORM = '\\+?0*[0-9]{1,15}(?:\\.0+)?'
/** A whole number from 1 to 200 as text. */
export const LIMIT_FORM = '\\+?0*(?:[1-9][0-9]?|1[0-9]{2}|200)(?:\\.0+)?'

/**
 * `min` to `max` bytes of UTF-8 without white space around them. JSON Schema counts characters, so
 * for texts beyond ASCII the pattern assumes four bytes a character.
 */
export function bytesForm(min: number, max: number): string {
  const ascii = between(ASCII_VISIBLE, '\\u0001-\\u007f', min, max)
  const other = between(`^${SPACE}\\u0000`, '^\\u0000', min, Math.floor(max / 4))
  return `${ascii}|${other}`
}

/** `min` to `max` characters: the first and the last of `outer`, the others of `inner`. */
function between(outer: string, inner: string, min: number, max: number): string {
  const inside = `[${inner}]{${Math.max(0, min - 2)},${max - 2}}[${outer}]`
  return min > 1 ? `[${outer}]${inside}` : `[${outer}](?:${inside})?`
}

/** Up to `itemsMax` texts of at most `bytesMax` bytes between commas; blank ones count too. */
export function listOf(bytesMax: number, itemsMax: number): string {
  const ascii = `[\\u0001-+\\--\\u007f]{0,${bytesMax}}`
  const other = `[^,\\u0000]{0,${Math.floor(bytesMax / 4)}}`
  return `^(?:${ascii}|${other})(?:,(?:${ascii}|${other})){0,${itemsMax - 1}}$`
}
