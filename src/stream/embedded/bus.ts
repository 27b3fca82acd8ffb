// Implements the bus inside one process: calls the listeners of a channel in the order of the
// announcements.

import type { Announcement } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Bus, Notice } from '#domain/ports'

export class LocalBus implements Bus {
  readonly #channels = new Map<ChannelId, Set<(announcement: Announcement) => void>>()
  readonly #notices = new Set<(notice: Notice) => void>()

  announce(announcements: readonly Announcement[]): void {
    for (const announcement of announcements) {
      for (const listener of this.#channels.get(announcement.channelId) ?? []) {
        listener(announcement)
      }
    }
  }

  listen(channelId: ChannelId, listener: (announcement: Announcement) => void): () => void {
    const listeners = this.#channels.get(channelId) ?? new Set()
    this.#channels.set(channelId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#channels.get(channelId) === listeners) {
        this.#channels.delete(channelId)
      }
    }
  }

  flush(): Promise<void> {
    return Promise.resolve()
  }

  notify(notice: Notice): void {
    for (const listener of this.#notices) listener(notice)
  }

  onNotice(listener: (notice: Notice) => void): () => void {
    this.#notices.add(listener)
    return () => this.#notices.delete(listener)
  }
}
