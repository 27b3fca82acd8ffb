// Reads the text of a query: `temperature > 80 state:active tag:pump,valve -prefix:test- "cellar"`
// becomes a `where` of /thing/query. Pure, and small enough for a browser. (docs/history.md)
//
//   query = all { "or" all }
//   all   = term { [ "and" ] term }
//   term  = ( "-" | "not" ) term | "(" query ")" | name operator value | keyword ":" values | text

import type { Where } from '#domain/rules/condition'
import { Stop } from './mistake.ts'
import type { Mistake } from './mistake.ts'
import { comparison, keywordTerm, stop } from './terms.ts'
import type { Piece } from './terms.ts'
import { JOINERS, KEYWORDS, WORD, isKeyword } from './words.ts'
import type { Keyword, Operator } from './words.ts'

/** Parentheses and negations within each other; the gateway takes no more. */
const DEPTH_MAX = 8

/** Reads a text. An empty one gives no `where`: it asks for every Thing. */
export function readQuery(
  text: string,
): { readonly kind: 'query'; readonly where?: Where } | Mistake {
  try {
    const where = new Reader(text).whole()
    return { kind: 'query', ...(where !== undefined && { where }) }
  } catch (error) {
    if (error instanceof Stop) return error.mistake
    throw error
  }
}

const BLANKS = /\s*/y
const QUOTED = /"((?:[^"\\]|\\[^])*)"/y
const OPERATOR = />=|<=|!=|==?|>|</y
/** A value may hold what ends a name: only blanks, quotes and parentheses end it. */
const VALUE = /[^\s"()]+/y
/** The same within a list. */
const LISTED = /[^\s"(),]+/y

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): Where | undefined {
    this.#take(BLANKS)
    if (this.#isAtEnd) return undefined
    const where = this.#any(0)
    return this.#isAtEnd ? where : this.#wrong('parenthesis_close', 'nothing is open here')
  }

  get #isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  get #next(): string {
    return this.#text.charAt(this.#at)
  }

  #wrong(code: Mistake['code'], message: string): never {
    return stop({ at: this.#at, end: Math.min(this.#at + 1, this.#text.length) }, code, message)
  }

  /** Takes what a sticky pattern finds here. */
  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text) ?? undefined
    this.#at += found?.[0].length ?? 0
    return found
  }

  #any(depth: number): Where {
    const parts = [this.#all(depth)]
    while (this.#isJoiner('or')) parts.push(this.#all(depth))
    return onlyOf(parts) ?? { any: parts }
  }

  #all(depth: number): Where {
    const parts = [this.#term(depth)]
    while (this.#isJoiner('and') || !(this.#isAtEnd || this.#next === ')' || this.#isBeforeOr)) {
      parts.push(this.#term(depth))
    }
    return onlyOf(parts) ?? { all: parts }
  }

  get #isBeforeOr(): boolean {
    const at = this.#at
    const is = this.#isJoiner('or')
    this.#at = at
    return is
  }

  /** Takes a word that joins terms, with the blanks behind it. */
  #isJoiner(joiner: (typeof JOINERS)[number]): boolean {
    const at = this.#at
    const word = this.#take(WORD)?.[0].toLowerCase()
    const isAlone = word === joiner && this.#next !== ':'
    if (isAlone) this.#take(BLANKS)
    else this.#at = at
    return isAlone
  }

  #term(depth: number): Where {
    if (depth > DEPTH_MAX) return this.#wrong('too_deep', `no more than ${DEPTH_MAX} levels`)
    if (this.#next === '(') return this.#group(depth)
    if (this.#isJoiner('not') || this.#take(/-(?=[^\s)])/y) !== undefined) {
      return { not: this.#term(depth + 1) }
    }
    const at = this.#at
    const first = this.#piece(WORD)
    if (first === undefined || this.#isReserved(first)) {
      this.#at = at
      return OPERATORS_BEGIN.test(this.#next)
        ? this.#wrong('name_missing', 'the name of an attr stands before a comparison')
        : this.#wrong('term_missing', 'a term stands here')
    }
    if (!first.isQuoted && this.#next === ':') return this.#keyword(first)
    this.#take(BLANKS)
    const operator = this.#take(OPERATOR)?.[0]
    if (operator === undefined) return { text: first.text }
    this.#take(BLANKS)
    const value = this.#piece(VALUE)
    this.#take(BLANKS)
    if (value === undefined) return this.#wrong('value_missing', 'a value stands behind it')
    return comparison(first, operator === '==' ? '=' : (operator as Operator), value)
  }

  #isReserved({ text, isQuoted }: Piece): boolean {
    const isWord = JOINERS.some((joiner) => joiner === text.toLowerCase())
    return !isQuoted && isWord && this.#next !== ':'
  }

  #group(depth: number): Where {
    const at = this.#at
    this.#take(/\(\s*/y)
    const where = this.#any(depth + 1)
    if (this.#take(/\)\s*/y) === undefined) {
      return stop({ at, end: at + 1 }, 'parenthesis_open', 'the parenthesis is not closed')
    }
    return where
  }

  /** Takes a text in quotes, or what the pattern finds. */
  #piece(bare: RegExp): Piece | undefined {
    const at = this.#at
    if (this.#next === '"') {
      const [, inner] = this.#take(QUOTED) ?? []
      if (inner === undefined) {
        const end = this.#text.length
        return stop({ at, end }, 'quote_open', 'the quotes are not closed')
      }
      const text = inner.replaceAll(/\\([^])/g, '$1')
      return { text, isQuoted: true, at, end: this.#at }
    }
    const text = this.#take(bare)?.[0]
    return text === undefined ? undefined : { text, isQuoted: false, at, end: this.#at }
  }

  /** `keyword:value`, and one of several for `keyword:value,value`. */
  #keyword(name: Piece): Where {
    const keyword = name.text.toLowerCase()
    if (!isKeyword(keyword)) {
      const known = Object.keys(KEYWORDS).join(', ')
      return stop(name, 'keyword_unknown', `is not known; known are ${known}`)
    }
    this.#at += 1
    const isOne = keyword === 'near' || keyword === 'cel'
    const bare = isOne ? VALUE : LISTED
    const terms: Where[] = []
    do terms.push(keywordTerm(keyword, this.#valueOf(keyword, bare)))
    while (this.#take(/,/y) !== undefined)
    this.#take(BLANKS)
    return onlyOf(terms) ?? { any: terms }
  }

  #valueOf(keyword: Keyword, bare: RegExp): Piece {
    const value = this.#piece(bare)
    const mayBeBlank = value?.isQuoted === true && (keyword === 'has' || keyword === 'missing')
    return value === undefined || (value.text.trim() === '' && !mayBeBlank)
      ? this.#wrong('value_missing', `${keyword}: has ${KEYWORDS[keyword]} behind it`)
      : value
  }
}

const onlyOf = (terms: readonly Where[]): Where | undefined =>
  terms.length === 1 ? terms[0] : undefined

const OPERATORS_BEGIN = /[<>=!]/
