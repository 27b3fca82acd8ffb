// Collects the deliveries to the demo's subscribed device; the screen shows nothing else.

import { keepNewest } from '#domain/bounds/newest'
import { ThingsView } from '#src/client/view'
import type { ThingView } from '#src/client/view'
import type { ChannelId } from '#domain/identity'
import type { Delivery, Gap } from '#src/schemas/frames'
import type { Tally } from './tally.ts'

const OPEN_EVENTS_MAX = 20
const RECENT_MAX = 50

/** An open Event. */
export interface OpenEvent {
  readonly title: string
  readonly sinceMs: number
  /** The latest news of it; '' for none. */
  readonly message: string
}

export class Audience {
  readonly #channelId: ChannelId
  readonly #tally: Tally
  readonly #view = new ThingsView()
  readonly #events = new Map<string, OpenEvent>()
  readonly #recent: Delivery[] = []

  constructor(channelId: ChannelId, tally: Tally) {
    this.#channelId = channelId
    this.#tally = tally
  }

  received(delivery: Delivery, atMs: number): void {
    this.#tally.delivered(delivery.opId, atMs)
    this.#view.apply(delivery)
    if (delivery.model === 'event') this.#foldEvent(delivery)
    this.#recent.push(delivery)
    if (this.#recent.length > RECENT_MAX) this.#recent.shift()
  }

  missed(gap: Gap): void {
    this.#view.apply(gap)
  }

  /** Things that are not archived. */
  get things(): readonly ThingView[] {
    const things = [...this.#view.things(this.#channelId).values()]
    return things.filter(({ state }) => state === 'active')
  }

  get openEvents(): readonly OpenEvent[] {
    return [...this.#events.values()]
  }

  /** The newest last. */
  get recent(): readonly Delivery[] {
    return this.#recent
  }

  #foldEvent({ entityId, state, acceptedAt, payload }: Delivery): void {
    if (state !== 'open') {
      this.#events.delete(entityId)
      return
    }
    const before = this.#events.get(entityId)
    const { title, message } = payload
    this.#events.set(entityId, {
      title: typeof title === 'string' ? title || entityId : (before?.title ?? entityId),
      sinceMs: before?.sinceMs ?? acceptedAt,
      message: typeof message === 'string' ? message : (before?.message ?? ''),
    })
    keepNewest(this.#events, OPEN_EVENTS_MAX)
  }
}
