// Looks at the Things of a channel for one page of a query.
//
// A page whose Things come in the order in which the store has them ends when it is full. Every
// other one looks at all Things, by their ids: in parts of 200,000, each of which is in order and
// has groups and a total of its own.
//
// Invariants:
//   looking/1. A page looks at a bounded number of Things, and takes a bounded number of steps for
//     them: then it ends, and names the cursor of the rest.
//   looking/2. A part ends where its first page has ended it, so that no Thing comes in two parts.
//     A later page for which that is too much is refused.
//   looking/3. No Thing whose id does not begin with the prefix is looked at: with one, Things come
//     by their ids.

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { seenIn } from '#domain/things/document'
import { damaged, thingIn } from '#domain/things/stored-thing'
import type { Thing } from '#domain/entity'
import type { ScanOrder, ScanQuery, Scanned, ScannedThing } from '#domain/things/scan'
import { READING_STEPS_MAX, Work } from '#src/rules/work'
import type { Place } from '#domain/things/cursor'
import { factsOf } from './facts.ts'
import type { ThingFacts } from './facts.ts'
import { Groups } from './groups.ts'
import type { Group } from './groups.ts'
import { compare } from './order.ts'
import { TopThings } from './page.ts'
import type { ThingQuery } from './query.ts'

export interface LookingBounds {
  /** Things that one page looks at. */
  readonly looked: number
  /** Steps of one page. (work/2) */
  readonly steps: number
}

/** So many steps take about a second. */
export const LOOKING_BOUNDS: LookingBounds = { looked: 200_000, steps: 30_000_000 }

/** What a later page of a part may take more than the first one, as Things change meanwhile. */
const LATER_RATIO = 2

/** Steps of a Thing, beside its conditions and its bytes. */
const THING_STEPS = 16
/** Bytes of a document that take a step to read. */
const BYTES_OF_STEP = 32

export interface QueryResult {
  readonly items: readonly Thing[]
  readonly next?: Place
  readonly total?: number
  readonly groups?: readonly Group[]
  /** False when the total or the groups are not of all Things; absent without them. */
  readonly isComplete?: boolean
}

const TOO_CHANGED = fault('invalid_cursor', {
  field: 'cursor',
  detail: 'too many Things have come since the page before: begin again',
})

interface Circumstances {
  readonly limit: number
  readonly nowMs: number
  readonly bounds?: LookingBounds
}

export class Looking {
  readonly #query: ThingQuery
  readonly #nowMs: number
  readonly #top: TopThings
  readonly #groups: Groups | undefined
  readonly #scan: ScanOrder & Pick<ScanQuery, 'until' | 'prefix'>
  /** True when Things come in the order of the query. */
  readonly #isInOrder: boolean
  readonly #bounds: LookingBounds
  #after: string | number | undefined
  #last: ThingFacts | undefined
  #isAtEnd = false
  #looked = 0
  #steps = 0
  #total = 0

  constructor(query: ThingQuery, circumstances: Circumstances) {
    const { limit, nowMs, bounds: most = LOOKING_BOUNDS } = circumstances
    const { order, place, grouping, isCounted, prefix } = query
    this.#query = query
    this.#nowMs = nowMs
    this.#top = new TopThings(limit, order.isDescending)
    this.#groups = grouping && new Groups(grouping)
    // looking/3
    const isStored = order.by === 'thing_id' || (order.by === 'changed' && prefix === '')
    this.#isInOrder = isStored && !isCounted && grouping === undefined
    const { after, until, key } = place
    if (this.#isInOrder) {
      const by = order.by === 'changed' ? 'changed' : 'thing_id'
      this.#scan = { by, isDescending: order.isDescending, prefix }
      this.#after = key?.value
    } else {
      const bounds = { prefix, ...(until !== undefined && { until }) }
      this.#scan = { by: 'thing_id', isDescending: false, ...bounds }
      this.#after = after
    }
    const ratio = this.#isLater ? LATER_RATIO : 1
    this.#bounds = { looked: most.looked * ratio, steps: most.steps * ratio }
  }

  /** Steps that it has taken so far. */
  get steps(): number {
    return this.#steps
  }

  /** The Things to look at next; undefined when it is over. */
  get nextScan(): Omit<ScanQuery, 'channelId' | 'limit'> | undefined {
    if (this.#isOver || this.#isAtEnd) return undefined
    return { ...this.#scan, ...(this.#after !== undefined && { after: this.#after }) }
  }

  /** Looks at Things that a scan has given, and pauses behind each of them. */
  *take({ things, isLast }: Scanned): Generator<void> {
    for (const thing of things) {
      if (this.#isOver) return
      this.#look(thing)
      yield
    }
    this.#isAtEnd = isLast
  }

  /** A page for which an earlier one of the same part was read. */
  get #isLater(): boolean {
    return !this.#isInOrder && this.#query.place.key !== undefined
  }

  get #isOver(): boolean {
    return this.#isSpent || (this.#isInOrder && this.#top.isFull)
  }

  /** looking/1 */
  get #isSpent(): boolean {
    return this.#looked >= this.#bounds.looked || this.#steps >= this.#bounds.steps
  }

  #look(thing: ScannedThing): void {
    this.#after = this.#scan.by === 'changed' ? thing.seq : thing.id
    this.#looked += 1
    this.#steps += THING_STEPS + Math.ceil(thing.bytes / BYTES_OF_STEP)
    const seen = seenIn(thing)
    if (seen === undefined) throw damaged()
    const work = new Work(READING_STEPS_MAX)
    const facts = factsOf(seen, this.#nowMs, work)
    this.#last = facts
    if (this.#holds(facts)) {
      this.#total += 1
      this.#groups?.add(facts)
      const { order, place } = this.#query
      const key = order.keyOf(facts)
      // order/1
      const isBehind = place.key === undefined || compare(key, place.key, order.isDescending) > 0
      if (isBehind) this.#top.offer(key, thing)
    }
    this.#steps += work.taken
  }

  #holds(facts: ThingFacts): boolean {
    const { where, namesState } = this.#query
    if (!namesState && facts.state === 'deleted') return false
    return where === undefined || where.verdict(facts) === true
  }

  /** The page, once it is over; invalid_cursor when a part has grown too much. (looking/2) */
  result(): Answer<QueryResult> {
    if (this.#isLater && !this.#isAtEnd) return TOO_CHANGED
    const { isCounted } = this.#query
    const groups = this.#groups
    const next = this.#isInOrder ? this.#nextInOrder() : this.#nextInPart()
    const isWhole = this.#query.place.after === undefined && this.#partEnd === undefined
    return {
      items: this.#top.things.map(thingIn),
      ...(next !== undefined && { next }),
      ...(isCounted && { total: this.#total }),
      ...(groups !== undefined && { groups: groups.result() }),
      ...((isCounted || groups !== undefined) && {
        isComplete: isWhole && groups?.isComplete !== false,
      }),
    }
  }

  #nextInOrder(): Place | undefined {
    if (!this.#top.isFull && this.#isAtEnd) return undefined
    const last = this.#last && this.#query.order.keyOf(this.#last)
    const key = this.#top.isFull ? this.#top.lastKey : last
    return key && { key }
  }

  /** The last id of the part; undefined when the part goes on to the end. (looking/2) */
  get #partEnd(): string | undefined {
    const { until } = this.#query.place
    return until ?? (this.#isAtEnd ? undefined : this.#last?.id)
  }

  #nextInPart(): Place | undefined {
    const until = this.#partEnd
    if (!this.#top.isFull) return until === undefined ? undefined : { after: until }
    const { after } = this.#query.place
    const key = this.#top.lastKey
    return {
      ...(after !== undefined && { after }),
      ...(until !== undefined && { until }),
      ...(key !== undefined && { key }),
    }
  }
}
