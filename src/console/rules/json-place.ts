// Where in a JSON text the member of a path stands, so that an editor can lead to it.

import { jsonOf } from '#domain/record'

// A text, a sign of structure, or anything else without spaces.
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

interface Level {
  /** The path of the object or list. */
  readonly path: string
  /** The next index of a list; undefined in an object. */
  index: number | undefined
  /** The name that a value of an object waits for. */
  name: string | undefined
}

/**
 * Returns where the value of a path begins, as `rule.when.all[1].above` with `root` for the whole
 * text. For a member that is missing, the place of the innermost value that should have it.
 */
export function placeOf(text: string, root: string, path: string): number {
  const levels: Level[] = []
  let found = { length: 0, at: 0 }
  const begin = (at: number): string => {
    const level = levels.at(-1)
    const here =
      level === undefined
        ? root
        : level.index === undefined
          ? `${level.path}.${level.name ?? ''}`
          : `${level.path}[${level.index}]`
    const leads = path === here || path.startsWith(`${here}.`) || path.startsWith(`${here}[`)
    if (leads && here.length > found.length) found = { length: here.length, at }
    return here
  }
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    const level = levels.at(-1)
    if (token === '{' || token === '[') {
      const index = token === '[' ? 0 : undefined
      levels.push({ path: begin(at), index, name: undefined })
    } else if (token === '}' || token === ']') levels.pop()
    else if (token === ',') next(level)
    else if (token === ':') continue
    else if (level !== undefined && level.index === undefined && level.name === undefined) {
      level.name = nameIn(token)
    } else begin(at)
  }
  return found.at
}

function next(level: Level | undefined): void {
  if (level === undefined) return
  if (level.index === undefined) level.name = undefined
  else level.index += 1
}

function nameIn(token: string): string {
  const name = jsonOf(token)
  return typeof name === 'string' ? name : token
}

/** The line of a place, from 1 on. */
export const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length
