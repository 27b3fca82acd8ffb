// Regular expressions of ECMA-262 for the texts that the gateway takes, for the OpenAPI document.
// The readers of requests decide; a test compares both.

/** The characters that trimming removes: ECMA-262 has one class of them. */
const SPACE = '\\s'
const ASCII_SPACE = '\\t-\\r '
/** ASCII without NUL and without white space. */
const ASCII_VISIBLE = '\\u0001-\\u0008\\u000e-\\u001f!-\\u007f'

/** Any text that has more than white space: without trimming, and NUL counts. */
export const SOME_TEXT = `[^${SPACE}]`

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
/** A duration up to 30d; the numbers of seconds below a million have a form of their own. */
const upTo30Days = (seconds: string): string =>
  [
    `(?:${seconds}|1\\d{6}|2[0-4]\\d{5}|25[0-8]\\d{4}|259[01]\\d{3}|2592000)s`,
    '(?:[1-9]\\d{0,3}|[1-3]\\d{4}|4[0-2]\\d{3}|43[01]\\d\\d|43200)m',
    '(?:[1-9]\\d?|[1-6]\\d\\d|7[01]\\d|720)h',
    '(?:[1-9]|[12]\\d|30)d',
  ].join('|')
/** A duration from 1s to 30d, in whole seconds, minutes, hours or days. */
export const DURATION_FORM = upTo30Days('[1-9]\\d{0,5}')
/** The same from 10s on: the delay of a Message. */
export const DELAY_FORM = upTo30Days('[1-9]\\d{1,5}')
/** The same from 1m to 1d: the time between reminders. */
export const REMINDER_FORM = [
  '(?:[6-9]\\d|[1-9]\\d{2,3}|[1-7]\\d{4}|8[0-5]\\d{3}|86[0-3]\\d\\d|86400)s',
  '(?:[1-9]\\d{0,2}|1[0-3]\\d\\d|14[0-3]\\d|1440)m',
  '(?:[1-9]|1\\d|2[0-4])h',
  '1d',
].join('|')
/** The same from 1m to 7d: how long a person looks away. */
export const SNOOZE_FORM = [
  '(?:[6-9]\\d|[1-9]\\d{2,4}|[1-5]\\d{5}|60[0-3]\\d{3}|604[0-7]\\d\\d|604800)s',
  '(?:[1-9]\\d{0,3}|100[0-7]\\d|10080)m',
  '(?:[1-9]\\d?|1[0-5]\\d|16[0-8])h',
  '[1-7]d',
].join('|')
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

const TOPIC_LEVEL = '(?:[^+#/\\u0000]+|\\+[A-Za-z]\\w*)'
const TOPIC_LEVELS = '#[A-Za-z]\\w*'
/** Levels of topics, of which some have names: +one, #several. */
export const TOPIC_PATTERN =
  `^(?:${TOPIC_LEVEL}(?:/${TOPIC_LEVEL})*(?:/${TOPIC_LEVELS}(?:/${TOPIC_LEVEL})*)?` +
  `|${TOPIC_LEVELS}(?:/${TOPIC_LEVEL})*)$`

const NOT_JSON = `[^\\[${SPACE}][\\s\\S]*`
/** Between brackets JSON knows four kinds of white space. */
const EMPTY_LIST = `\\[[ \\t\\n\\r]*\\][${SPACE}]*`
/** A text that is not JSON, or an empty list. */
export const SHORT_ACTIONS = `^[${SPACE}]*(?:${NOT_JSON}|${EMPTY_LIST})?$`

/** Keys between commas, of which one is not blank. */
export const KEYS_BETWEEN_COMMAS = `[^,${SPACE}\\u0000]`

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
