// Topic patterns with named levels, of the families and of a channel's own mappings.

/** The levels of a topic by their names in the pattern. */
export type Levels = Readonly<Record<string, string>>

export interface TopicPattern {
  /** The first level when it is the same in every topic of the pattern. */
  readonly first: string | undefined
  readonly names: ReadonlySet<string>
  /** The named levels of a topic; undefined when the pattern does not take it. */
  readonly match: (topic: string) => Levels | undefined
}

const escaped = (level: string): string => level.replace(/[\\^$.*?()[\]{}|]/g, '\\$&')
const NAMED = /^([+#])([A-Za-z]\w*)$/

/**
 * Compiles a pattern: `+name` stands for one level, `#name` for one or more, and at most one level
 * is of the latter kind. `where` narrows a level by the source of a regular expression. Undefined
 * for a text that is no pattern.
 */
export function compilePattern(
  text: string,
  where: Readonly<Record<string, string>> = {},
): TopicPattern | undefined {
  const names = new Set<string>()
  const sources = text.split('/').map((level) => {
    const [, kind, name = ''] = NAMED.exec(level) ?? []
    if (kind === undefined) return /^[^+#\0]+$/.test(level) ? escaped(level) : undefined
    if (names.has(name)) return undefined
    names.add(name)
    return `(?<${name}>${where[name] ?? (kind === '+' ? '[^/]+' : '[^/]+(?:/[^/]+)*')})`
  })
  if (sources.includes(undefined) || (text.match(/#/g) ?? []).length > 1) return undefined
  const expression = new RegExp(`^${sources.join('/')}$`, 'u')
  const first = text.split('/', 1)[0] ?? ''
  return {
    names,
    first: NAMED.test(first) ? undefined : first,
    match: (topic) => {
      const found = expression.exec(topic)
      return found === null ? undefined : { ...found.groups }
    },
  }
}
