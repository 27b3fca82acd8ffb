// What is wrong with the text of a query, and where.

/** What is wrong, for programs that word it in another language. */
export type MistakeCode =
  | 'quote_open'
  | 'parenthesis_open'
  | 'parenthesis_close'
  | 'too_deep'
  | 'term_missing'
  | 'name_missing'
  | 'value_missing'
  | 'keyword_unknown'
  | 'not_a_number'
  | 'not_a_range'
  | 'not_a_state'
  | 'not_a_duration'
  | 'not_a_place'

/** The first mistake in a text: `at` and `end` are the characters that it lies between. */
export interface Mistake {
  readonly kind: 'mistake'
  readonly code: MistakeCode
  readonly at: number
  readonly end: number
  /** A sentence about it, in English. */
  readonly message: string
}

/** Ends reading; `readQuery` catches it. */
export class Stop extends Error {
  readonly mistake: Mistake

  constructor(mistake: Omit<Mistake, 'kind'>) {
    super(mistake.message)
    this.mistake = { kind: 'mistake', ...mistake }
  }
}
