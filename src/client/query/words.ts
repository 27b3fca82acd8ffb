// The words of the query language: what stands before a colon, and how a name is written.

/** What may stand before a colon, each with the values that it takes. */
export const KEYWORDS = {
  state: 'active, archived or deleted',
  tag: 'a tag',
  prefix: 'the beginning of an id',
  silent: 'a duration such as 10m',
  has: 'the name of an attr',
  missing: 'the name of an attr',
  text: 'a part of a title or a description',
  near: 'latitude,longitude,distance such as 48.2,16.4,5km',
  cel: 'an expression in quotes',
} as const

export type Keyword = keyof typeof KEYWORDS

export const isKeyword = (text: string): text is Keyword => Object.hasOwn(KEYWORDS, text)

/** Words that join terms. They are no free text without quotes. */
export const JOINERS = ['and', 'or', 'not'] as const

/** The comparisons, the longest first. */
export const OPERATORS = ['>=', '<=', '!=', '>', '<', '='] as const

export type Operator = (typeof OPERATORS)[number]

/** What may stand in a word without quotes. */
export const WORD = /(?:[^\s"()<>=!:]|!(?!=))+/y

/** The text in quotes, as it is read back. */
export const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** True for a text that is one word without quotes. */
const isWord = (text: string): boolean => {
  WORD.lastIndex = 0
  const isJoiner = JOINERS.some((joiner) => joiner === text.toLowerCase())
  return WORD.exec(text)?.[0] === text && !text.startsWith('-') && !isJoiner
}

/** The name of an attr as it stands before a comparison: a dot would lead into an object. */
export const nameText = (name: string): string =>
  isWord(name) && !name.includes('.') ? name : quoted(name)

/** A value as it stands behind a colon or a comparison. */
export const valueText = (value: string): string =>
  isWord(value) && !value.includes(',') && !isPlain(value) ? value : quoted(value)

/** Words that stand for another value than their text. */
export const isPlain = (word: string): boolean =>
  word === 'true' || word === 'false' || NUMBER.test(word) || word.includes('..')

export const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i
