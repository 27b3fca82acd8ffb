// The text that every store and every device can hold. (decisions.md 3)

/** What a text breaks that is none: it completes "<field> …". */
export const UNSAFE_RULE = 'must not hold NUL or half a surrogate pair'

/**
 * True for text that can be kept: a lone half of a surrogate pair has no UTF-8 form, and a NUL
 * character ends the text for many readers.
 */
export const isSafeText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
