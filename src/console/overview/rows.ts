// The rows of an overview: which Things it shows, in which groups, and the columns of each group.

import { useMemo, useRef } from 'preact/hooks'

import { second } from '#console/state/clock.ts'
import { facesOf } from '#console/model/faces.ts'
import type { Face } from '#console/model/faces.ts'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { finderOf, groupsOf, inNameOrder, inOrder } from '#console/search/search.ts'
import type { Finder, Found, Grouping, Order, ThingGroup } from '#console/search/search.ts'
import { firstNumber } from '#console/state/units.ts'
import type { Mistake } from '#src/client/query/mistake'
import { useAnswers } from '#console/search/answers.ts'
import type { Answered } from '#console/search/answers.ts'
import type { Opened } from './open-events.ts'
import { troubleOf } from './standing.ts'

/** A Thing of one of the channels, as it was when the rows were sought. */
export interface Item extends Found {
  readonly channel: LiveChannel
}

/** An attr that a group shows at one place in all of its rows. */
export interface Column {
  readonly name: string
  readonly face: Face
}

export interface Group extends ThingGroup<Item> {
  readonly columns: readonly Column[]
}

export interface Wish {
  readonly text: string
  readonly order: Order
  readonly grouping: Grouping
  /** Only Things with such an open Event; '' for all of them. */
  readonly trouble: string
}

export interface Rows {
  readonly groups: readonly Group[]
  readonly found: number
  readonly all: number
  readonly extent: Answered['extent']
  /** What is wrong with the text: then the rows are those of the one before. */
  readonly mistake: Mistake | undefined
  /** Why the gateway does not say what the page cannot decide. */
  readonly failure: unknown
}

const EVERY: Finder = { kind: 'finder', finds: () => true, attr: undefined, asked: [] }

/** Things of a group whose attrs are looked at for its columns. */
const SAMPLE = 50

function columnsOf(items: readonly Item[]): readonly Column[] {
  const columns = new Map<string, Column>()
  const step = Math.max(1, Math.floor(items.length / SAMPLE))
  for (let at = 0; at < items.length; at += step) {
    const item = items[at]
    if (item === undefined) continue
    for (const [name, face] of facesOf(item.channel.presentation.value, item.thing)) {
      if (!columns.has(name)) columns.set(name, { name, face })
    }
  }
  return [...columns.values()]
}

/**
 * The Things in their order. They are sought anew when one comes or goes and, where values or
 * Events decide, once a second: not for each update.
 */
export function useThings(channels: readonly LiveChannel[], wish: Wish, opened: Opened): Rows {
  const { text, order, grouping, trouble } = wish
  const read = useMemo(() => finderOf(text), [text])
  // While a text is written on, what was read last holds.
  const lastRead = useRef(EVERY)
  if (read.kind === 'finder') lastRead.current = read
  const finder = lastRead.current
  const { answers, extent, failure } = useAnswers(channels, finder.asked)
  const isByValue = order !== 'name' || text.trim() !== ''
  const beat = isByValue ? second.value : 0
  const known = useRef(new Map<string, readonly string[]>())
  const members = channels.map(({ id, members: count }) => `${id} ${count.value}`).join(' ')
  const presented = channels.map(({ presentation }) => presentation.value)
  const rows = useMemo(() => {
    const items: Item[] = []
    let all = 0
    for (const channel of channels) {
      const ids = inNameOrder(known.current.get(channel.id) ?? [], channel.things)
      known.current.set(channel.id, ids)
      all += ids.length
      for (const id of ids) {
        const thing = channel.things.get(id)
        if (thing === undefined || !finder.finds(thing, answers.get(channel.id))) continue
        const isSilence = (ruleId: string): boolean => opened.isSilence(channel, ruleId)
        const isWanted =
          trouble === '' ||
          opened.of(channel, id).some((event) => troubleOf(event, isSilence) === trouble)
        if (isWanted) items.push({ channel, thing })
      }
    }
    const attr = finder.attr ?? firstNumber(items[0]?.thing.attrs ?? {}) ?? ''
    const groups = groupsOf(inOrder(items, order, attr), grouping)
    return {
      groups: groups.map((group) => ({ ...group, columns: columnsOf(group.items) })),
      found: items.length,
      all,
    }
  }, [
    members,
    finder,
    answers,
    order,
    grouping,
    trouble,
    beat,
    trouble === '' ? '' : opened,
    ...presented,
  ])
  return { ...rows, extent, mistake: read.kind === 'mistake' ? read : undefined, failure }
}
