// What of a board a person wants to see, and in which order.
//
//   boiler                words: in the id, the title or the tags
//   temperature>20        attrs: = > < compare with a number or a text
//   is:silent is:archived marks

import type { ThingView } from '#src/client/view'
import type { Json } from '#domain/submission'
import { plain } from './text.ts'

export type Order = 'name' | 'changed' | 'value'

export interface Query {
  readonly words: readonly string[]
  readonly attrs: readonly AttrFilter[]
  readonly isSilent: boolean
  readonly isArchived: boolean
}

interface AttrFilter {
  readonly name: string
  readonly sign: '=' | '>' | '<'
  readonly value: string
}

const ATTR = /^([^=<>\s]+)([=<>])(\S+)$/

export function queryOf(text: string): Query {
  const parts = text.trim().split(/\s+/).filter(Boolean)
  const attrs: AttrFilter[] = []
  const words: string[] = []
  for (const part of parts) {
    const [, name, sign, value] = ATTR.exec(part) ?? []
    if (name !== undefined && value !== undefined) {
      attrs.push({ name, sign: sign as AttrFilter['sign'], value })
    } else if (!/^is:(silent|archived)$/.test(part)) words.push(part.toLowerCase())
  }
  const isSilent = parts.includes('is:silent')
  return { words, attrs, isSilent, isArchived: parts.includes('is:archived') }
}

/** The time of the newest observation of a Thing. */
export const observedAt = ({ fields }: ThingView): number => Number(fields['observed_at'] ?? 0)

/** The title of a Thing, or its id. */
export function titleOf({ id, fields }: Pick<ThingView, 'id' | 'fields'>): string {
  const { title } = fields
  return typeof title === 'string' && title !== '' ? title : id
}

/** True for a Thing that the query finds. Archived ones only when they are asked for. */
export function isFound(thing: ThingView, query: Query, silentSinceMs: number): boolean {
  if ((thing.state === 'archived') !== query.isArchived) return false
  if (query.isSilent && observedAt(thing) >= silentSinceMs) return false
  return query.words.every((word) => holds(thing, word)) && query.attrs.every(matches(thing))
}

function holds(thing: ThingView, word: string): boolean {
  const { tags } = thing.fields
  if (thing.id.toLowerCase().includes(word)) return true
  if (titleOf(thing).toLowerCase().includes(word)) return true
  const listed: readonly Json[] = Array.isArray(tags) ? tags : []
  return listed.some((tag) => plain(tag).toLowerCase() === word)
}

const matches =
  ({ attrs }: ThingView) =>
  ({ name, sign, value }: AttrFilter): boolean => {
    const present = attrs[name]
    if (present === undefined) return false
    if (sign === '=') return plain(present).toLowerCase() === value.toLowerCase()
    const [left, right] = [Number(present), Number(value)]
    return sign === '>' ? left > right : left < right
  }

/**
 * The key by which an id is sorted as people count: `a-2` before `a-10`. Comparing keys takes a
 * tenth of the time that a collator takes; ids have ASCII letters alone.
 */
const sortKey = (id: string): string =>
  id.toLowerCase().replace(/0*(\d+)/g, (_, digits: string) => LENGTH_MARKS[digits.length] + digits)

/** A character for each length of a number, in their order, between signs and letters. */
const LENGTH_MARKS = Array.from({ length: 65 }, (_, length) => `0${String.fromCharCode(length)}`)

const byKey = ([a]: readonly [string, string], [b]: readonly [string, string]): number =>
  a < b ? -1 : a > b ? 1 : 0

/**
 * The ids of Things by name, as people count. `sorted` is what was sorted before: most ids stay,
 * and the place of a new one is found by halves.
 */
export function inNameOrder(
  sorted: readonly string[],
  things: ReadonlyMap<string, unknown>,
): readonly string[] {
  const before = new Set(sorted)
  const kept = sorted.filter((id) => things.has(id))
  const added: (readonly [key: string, id: string])[] = []
  for (const id of things.keys()) if (!before.has(id)) added.push([sortKey(id), id])
  const ids: string[] = []
  let from = 0
  for (const [key, id] of added.sort(byKey)) {
    const to = placeOf(key, kept, from)
    while (from < to) ids.push(kept[from++] ?? '')
    ids.push(id)
  }
  return [...ids, ...kept.slice(from)]
}

/** The index of the first of the sorted ids, from one on, that comes after a key. */
function placeOf(key: string, sorted: readonly string[], from: number): number {
  let [low, high] = [from, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sortKey(sorted[middle] ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}

/** Sorts Things that are in the order of names; by value: that of `attr`, the highest first. */
export function inOrder(things: ThingView[], order: Order, attr: string): ThingView[] {
  if (order === 'changed') return things.sort((a, b) => b.seq - a.seq)
  if (order === 'name') return things
  const value = ({ attrs }: ThingView): number =>
    typeof attrs[attr] === 'number' ? attrs[attr] : -Infinity
  // Two without a value stay as they are: their difference is no number.
  return things.sort((a, b) => value(b) - value(a) || 0)
}

/** The part of an id that stands for a group: what is before the first `:`, `-`, `_` or digit. */
export const groupOf = (id: string): string => /^[^:_\-\d]+/.exec(id)?.[0] ?? id

/** A row of the board: a Thing, or the heading of a group. */
export type BoardRow =
  | { readonly kind: 'thing'; readonly id: string }
  | { readonly kind: 'group'; readonly name: string; readonly count: number }

/** The rows for sorted Things; with groups, those of one group stand together. */
export function rowsOf(things: readonly ThingView[], isGrouped: boolean): readonly BoardRow[] {
  if (!isGrouped) return things.map(({ id }) => ({ kind: 'thing', id }))
  const groups = Map.groupBy(things, ({ id }) => groupOf(id))
  return [...groups].flatMap(([name, members]): BoardRow[] => [
    { kind: 'group', name, count: members.length },
    ...members.map(({ id }): BoardRow => ({ kind: 'thing', id })),
  ])
}
