// A device that catches up from a store: it folds its entries and keeps the gaps that it was told.

import type { CatchUpPage, CatchUpRequest, FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import { timesBesideNewest, valuesOf } from '#domain/patch'
import type { Fields } from '#domain/submission'
import { foldThing } from '#src/client/view'
import type { ThingView } from '#src/client/view'
import type { Store } from '#src/store/store'
import type { ChannelWriter } from '#test/support/store-writer'

/** The page of one channel. */
export async function pageFrom(
  { read }: Pick<Store, 'read'>,
  request: CatchUpRequest,
): Promise<CatchUpPage> {
  const [page] = await read.catchUp([request])
  if (page === undefined) throw new Error('a read has a page of one channel at least')
  return page
}

/** A device that knows its entries. */
export class FeedReader {
  readonly channelId: ChannelId
  readonly sinceSeq: number
  readonly entries = new Set<number>()
  readonly things = new Map<string, ThingView>()
  readonly lost = new Set<number>()
  position = 0
  pages = 0
  #removedTo: CatchUpPage['removedTo']

  constructor(channelId: ChannelId, sinceSeq: number) {
    this.channelId = channelId
    this.sinceSeq = sinceSeq
  }

  /** Begins a new session, which does not know the removals that the device was told. */
  reconnect(): void {
    this.#removedTo = undefined
  }

  /** Reads until nothing is left, or `pages` pages. */
  async read(store: Store, limit: number, pages = 10_000): Promise<void> {
    for (let count = 0; count < pages; count += 1) {
      const request: CatchUpRequest = {
        channelId: this.channelId,
        afterSeq: this.position,
        sinceSeq: this.sinceSeq,
        limit,
        ...(this.#removedTo !== undefined && { removedTo: this.#removedTo }),
      }
      const page = await pageFrom(store, request)
      this.#removedTo = page.removedTo
      this.#apply(page)
      this.pages += 1
      if (page.complete) {
        this.position = page.headSeq
        return
      }
    }
  }

  #apply({ gap, entries }: CatchUpPage): void {
    if (gap !== undefined) {
      for (let seq = gap.from; seq <= gap.to; seq += 1) this.lost.add(seq)
      if (gap.restart) {
        this.things.clear()
        this.position = 0
      }
    }
    for (const entry of entries) {
      if (entry.seq <= this.position) throw new Error(`seq ${entry.seq} does not grow`)
      this.position = entry.seq
      if (entry.model === 'thing') this.#fold(entry)
      else this.entries.add(entry.seq)
    }
  }

  #fold(entry: FeedEntry): void {
    const payload = JSON.parse(entry.payload) as Fields
    const { seq, action, entityId, state = 'active', rev = 0 } = entry
    const change = { seq, action, entityId, state, rev, payload }
    const next = foldThing(this.things.get(entityId), change)
    if (next === undefined) this.things.delete(entityId)
    else this.things.set(entityId, next)
  }
}

/** The live Things that a device should know. */
export function liveOf(writer: ChannelWriter): Map<string, unknown> {
  const live = [...writer.things.values()].filter(({ state }) => state !== 'deleted')
  return new Map(
    live.map(({ id, state, rev, seq, at, ...parts }) => [
      id,
      {
        id,
        state,
        rev,
        seq,
        fields: { ...valuesOf(parts.fields), observed_at: at },
        attrs: { ...valuesOf(parts.attrs) },
        attrTimes: { ...timesBesideNewest(parts.attrs) },
        externalIds: { ...valuesOf(parts.externalIds) },
      },
    ]),
  )
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Things as one plain value in a fixed order, to compare. */
export const sorted = (things: ReadonlyMap<string, unknown>): unknown =>
  plain([...things].toSorted(([a], [b]) => (a < b ? -1 : 1)))
