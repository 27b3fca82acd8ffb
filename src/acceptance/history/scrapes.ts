// Scrapes: the numbers of a channel's Things for Prometheus and its like. (Specification: Scrape)

import type { Event } from '#domain/entity'
import { fault, isFault } from '#domain/fault'
import type { OrderedPage } from '#domain/history/ordered-reads'
import { isKeyForm } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Caller } from '#src/acceptance/caller'
import { foreignThing, mayReadThing } from '#src/acceptance/key-rights'
import { FewAtOnce } from '#src/acceptance/queries/few-at-once'
import type { Stage } from '#src/acceptance/stage'
import { readCredentials } from '#src/schemas/values'
import { MetricsText } from './metrics-text.ts'
import type { Presentations } from './presentations.ts'
import { thingPages } from './thing-pages.ts'

/** A scrape as its way in reads it. */
export interface Scrape {
  /** Empty when none was sent. */
  readonly key: string
  /** Only Things whose id begins with it; empty for all. */
  readonly prefix: string
  /** Only these attrs; all without any. */
  readonly attrs: readonly string[]
}

/** Scrapes at once: of one channel, and of all in this process. */
const SCRAPES_MAX = { ofChannel: 2, max: 4, what: 'scrapes', retryAfterMs: 10_000 }
/** Events of a page of the store. */
const PAGE = 1_000

const NO_KEY = fault('password_required', {
  field: 'X-Channel-Key',
  detail: 'send a key of scope read as Authorization: Bearer, or as X-Channel-Key',
})

export class Scrapes {
  readonly #ports: Stage & { readonly presentation: Presentations }
  readonly #few = new FewAtOnce(SCRAPES_MAX)

  constructor(ports: Stage & { readonly presentation: Presentations }) {
    this.#ports = ports
    ports.meter.gauge('channel_scrapes', {}, () => this.#few.running)
  }

  /**
   * OpenMetrics text; series_limit_exceeded when it would be too large, rate_limited or server_busy
   * beyond the bounds. (few-at-once/1)
   */
  async metrics({ key: sent, prefix, attrs }: Scrape, caller: Caller): Promise<Answer<string>> {
    const { access } = this.#ports
    if (sent === '') return NO_KEY
    if (!isKeyForm(sent)) return access.refuse(caller, fault('channel_not_found'))
    const opened = await access.open({
      fields: { password: sent },
      caller,
      read: (fields) => readCredentials(fields as object),
      by: 'key',
      scope: 'read',
    })
    if (isFault(opened)) return opened
    const { channelId, key } = opened
    if (key === undefined) return fault('channel_not_found')
    const thingPrefix = prefix === '' ? key.thingPrefix : prefix
    if (!mayReadThing(key, thingPrefix)) return access.refuse(caller, foreignThing(key))
    return this.#few.run(channelId, () => this.#text(channelId, thingPrefix, attrs))
  }

  async #text(
    channelId: ChannelId,
    thingPrefix: string,
    attrs: readonly string[],
  ): Promise<Answer<string>> {
    const { read, presentation } = this.#ports
    const text = new MetricsText(await presentation.of(channelId), attrs)
    for await (const { things } of thingPages(read, { channelId, prefix: thingPrefix })) {
      text.addThings(things)
      if (text.isTooLarge) return fault('series_limit_exceeded')
    }
    let afterId: string | undefined
    do {
      const query = { channelId, thingPrefix, afterId, limit: PAGE }
      const { items, nextId }: OrderedPage<Event> = await read.openEventsInOrder(query)
      text.addEvents(items)
      if (text.isTooLarge) return fault('series_limit_exceeded')
      afterId = nextId
    } while (afterId !== undefined)
    return text.toString()
  }
}
