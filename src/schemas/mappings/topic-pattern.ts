// Topic patterns with named levels, of the families and of a channel's own mappings.

/** The levels of a topic by their names in the pattern. */
export type Levels = Readonly<Record<string, string>>

export interface TopicPattern {
  /** The first level when it is the same in every topic of the pattern. */
  readonly first: string | undefined
  readonly names: ReadonlySet<string>
  /**
   * The named levels of a topic, which is given by its levels; undefined when the pattern does not
   * take it. A publish may be held against thousands of patterns: it takes one comparison a level.
   */
  readonly match: (levels: readonly string[]) => Levels | undefined
}

/** One level of a pattern, or the several of a `#name`. */
interface Part {
  /** Counted from the end behind a `#name`, and less than nothing there. */
  readonly at: number
  readonly isMany: boolean
  /** Absent for a level that stands for itself. */
  readonly name?: string
  readonly takes: (level: string) => boolean
}

const NAMED = /^([+#])([A-Za-z]\w*)$/
const isSome = (level: string): boolean => level !== ''

/**
 * Compiles a pattern: `+name` stands for one level, `#name` for one or more, and at most one level
 * is of the latter kind. `where` narrows a level of the former by the source of a regular
 * expression. Undefined for a text that is no pattern.
 */
export function compilePattern(
  text: string,
  where: Readonly<Record<string, string>> = {},
): TopicPattern | undefined {
  const parts: Part[] = []
  const names = new Set<string>()
  const sources = text.split('/')
  const many = sources.findIndex((level) => level.startsWith('#'))
  for (const [index, level] of sources.entries()) {
    const at = many >= 0 && index > many ? index - sources.length : index
    const [, kind, name = ''] = NAMED.exec(level) ?? []
    if (kind === undefined) {
      if (!/^[^+#\0]+$/.test(level)) return undefined
      parts.push({ at, isMany: false, takes: (sent) => sent === level })
      continue
    }
    if (names.has(name) || (kind === '#' && index !== many)) return undefined
    names.add(name)
    parts.push({ at, name, isMany: kind === '#', takes: takerOf(where[name]) })
  }
  const [first = ''] = sources
  // Levels that stand for themselves tell most topics apart.
  const inOrder = parts.toSorted((a, b) => rankOf(a) - rankOf(b))
  return {
    names,
    first: NAMED.test(first) ? undefined : first,
    match: (levels) =>
      levels.length === parts.length || (many >= 0 && levels.length > parts.length)
        ? matched(inOrder, levels, levels.length - parts.length + 1)
        : undefined,
  }
}

const rankOf = ({ name, isMany }: Part): number => (name === undefined ? 0 : isMany ? 2 : 1)

function takerOf(source: string | undefined): Part['takes'] {
  if (source === undefined) return isSome
  const expression = new RegExp(`^(?:${source})$`, 'u')
  return (level) => expression.test(level)
}

/** The levels by their names, of which a `#name` has `many`. */
function matched(
  parts: readonly Part[],
  levels: readonly string[],
  many: number,
): Levels | undefined {
  const named: Record<string, string> = {}
  for (const { at, name, isMany, takes } of parts) {
    const level = levels[at < 0 ? levels.length + at : at] ?? ''
    if (isMany) {
      const some = levels.slice(at, at + many)
      if (!some.every(takes)) return undefined
      if (name !== undefined) named[name] = some.join('/')
    } else if (!takes(level)) return undefined
    else if (name !== undefined) named[name] = level
  }
  return named
}
