// Notes what devices say of attrs, for those who look at the Things of their channels.
//
// Invariants:
//   discoveries/1. What devices say is written together, some seconds apart, and no publish waits
//                  for it. What waits is bounded: the rest is left out until it is said again.
//   discoveries/2. What is known already is not written again.

import { withDiscovered } from '#domain/history/presentation'
import type { Discovered, DiscoveredAttrs, PresentationStore } from '#domain/history/presentation'
import type { ChannelId } from '#domain/identity'
import type { Timers } from '#domain/ports'

interface DiscoveryPorts {
  readonly presentations: Pick<PresentationStore, 'find' | 'discover'>
  readonly timers: Timers
}

const WRITE_AFTER_MS = 10_000
/** Channels of one write. */
const CHANNELS_MAX = 200
/** Attrs of all channels that wait, each of at most 1 KB. */
const ATTRS_MAX = 10_000

export class Discoveries {
  readonly #ports: DiscoveryPorts
  #waiting = new Map<ChannelId, Discovered>()
  #attrs = 0
  #isTimed = false

  constructor(ports: DiscoveryPorts) {
    this.#ports = ports
  }

  /** The attrs that wait to be written. */
  get waiting(): number {
    return this.#attrs
  }

  /** Notes what a device of a channel says. */
  note(channelId: ChannelId, attrs: Discovered): void {
    if (sizeOf(attrs) === 0) return
    const before = this.#waiting.get(channelId)
    if (before === undefined && this.#waiting.size >= CHANNELS_MAX) return // discoveries/1
    const all = withDiscovered(before ?? {}, Object.entries(attrs))
    const count = this.#attrs + sizeOf(all) - sizeOf(before ?? {})
    if (count > ATTRS_MAX) return // discoveries/1
    this.#waiting.set(channelId, all)
    this.#attrs = count
    if (this.#isTimed) return
    this.#isTimed = true
    this.#ports.timers.after(WRITE_AFTER_MS, () => void this.write())
  }

  /** Writes what waits. What the store cannot take is left out. */
  async write(): Promise<void> {
    const waiting = this.#waiting
    this.#isTimed = false
    this.#waiting = new Map()
    this.#attrs = 0
    await this.#written(waiting).catch(() => undefined)
  }

  async #written(waiting: ReadonlyMap<ChannelId, Discovered>): Promise<void> {
    const { presentations } = this.#ports
    const news: DiscoveredAttrs[] = []
    for (const [channelId, attrs] of waiting) {
      const kept = await presentations.find(channelId)
      const known = JSON.parse(kept?.discovered ?? '{}') as Discovered
      const all = withDiscovered(known, Object.entries(attrs))
      const isNew = JSON.stringify(all) !== JSON.stringify(known)
      if (isNew) news.push({ channelId, attrs }) // discoveries/2
    }
    if (news.length > 0) await presentations.discover(news)
  }
}

const sizeOf = (attrs: Discovered): number => Object.keys(attrs).length
