// A bus within one test: it remembers every notice and passes it on at once.

import type { Announcement } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Bus, Notice } from '#domain/ports'

export class FakeBus implements Bus {
  readonly notices: Notice[] = []
  /** The writers that the notices were for. */
  readonly writers: (string | undefined)[] = []
  readonly #noticeListeners = new Set<(notice: Notice) => void>()
  readonly #listeners = new Map<ChannelId, Set<(announcement: Announcement) => void>>()

  announce(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      for (const listener of this.#listeners.get(announcement.channelId) ?? []) {
        listener(announcement)
      }
    }
  }

  listen(channelId: ChannelId, listener: (announcement: Announcement) => void): () => void {
    const listeners = this.#listeners.get(channelId) ?? new Set()
    this.#listeners.set(channelId, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  /** The number of listeners of a channel. */
  listening(channelId: ChannelId): number {
    return this.#listeners.get(channelId)?.size ?? 0
  }

  notify(notice: Notice, writer?: string): void {
    this.notices.push(notice)
    this.writers.push(writer)
    for (const listener of this.#noticeListeners) listener(notice)
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    this.#noticeListeners.add(listener)
    return () => this.#noticeListeners.delete(listener)
  }
}
