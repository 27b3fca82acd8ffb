// Draws numbers as a line of blocks, for a terminal.

const BLOCKS = '▁▂▃▄▅▆▇█'

/**
 * A line of at most `width` characters, from the least number to the greatest. Several numbers that
 * share a character stand as their mean; '' for none.
 */
export function sparkline(numbers: readonly number[], width: number): string {
  const count = Math.min(numbers.length, width)
  const means = Array.from({ length: count }, (_, at) => {
    const start = Math.floor((at * numbers.length) / count)
    const part = numbers.slice(start, Math.floor(((at + 1) * numbers.length) / count))
    return part.reduce((sum, number) => sum + number / part.length, 0)
  })
  const least = Math.min(...means)
  // Halves: a difference may be beyond what a double holds.
  const above = (number: number): number => number / 2 - least / 2
  const span = above(Math.max(...means))
  return means
    .map((mean) => {
      const height = span > 0 ? Math.round((above(mean) / span) * (BLOCKS.length - 1)) : 0
      return BLOCKS[height] ?? ''
    })
    .join('')
}
