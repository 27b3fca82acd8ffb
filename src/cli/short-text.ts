// Numbers for a table on a terminal, where each column has its place in 80 characters.

const DIGITS = 6
/** A whole number below it has its place with all of its digits. */
const WHOLE_MAX = 1e9

/** Returns a value as text, of a number no more than six digits that are not whole. */
export function shortText(value: number | string | boolean): string {
  if (typeof value !== 'number') return String(value)
  const size = Math.abs(value)
  if (size < WHOLE_MAX) {
    const isWhole = size >= 10 ** DIGITS
    return String(isWhole ? Math.round(value) : Number(value.toPrecision(DIGITS)))
  }
  return Number(value.toPrecision(DIGITS)).toExponential()
}
