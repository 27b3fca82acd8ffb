// All Things of a channel that are not deleted, page by page in the order of their ids.

import type { Thing } from '#domain/entity'
import type { ChannelId } from '#domain/identity'
import { thingIn } from '#domain/things/stored-thing'
import type { ScanStore } from '#domain/things/scan'

export interface PagedThings {
  readonly channelId: ChannelId
  /** Only Things whose id begins with it; empty for all. */
  readonly prefix: string
  /** Only those behind this id; absent to begin with the first. */
  readonly afterId?: string | undefined
}

export interface ThingPage {
  readonly things: readonly Thing[]
  /** The last id that was looked at, deleted or not; absent when there was none. */
  readonly lastId?: string | undefined
}

/** Things of a page of the store: 1 MiB, and a page of long ones. (scanning/1) */
const PAGE_THINGS = 250

/** Each page is read once the one before is taken. However many Things change, each comes once. */
export async function* thingPages(
  read: ScanStore,
  { channelId, prefix, afterId }: PagedThings,
): AsyncGenerator<ThingPage> {
  const query = { channelId, by: 'thing_id', isDescending: false, prefix } as const
  let after = afterId
  for (let isLast = false; !isLast;) {
    const page = await read.scan({
      ...query,
      limit: PAGE_THINGS,
      ...(after !== undefined && { after }),
    })
    isLast = page.isLast
    const lastId = page.things.at(-1)?.id
    after = lastId ?? after
    yield { things: page.things.filter(({ state }) => state !== 'deleted').map(thingIn), lastId }
  }
}
