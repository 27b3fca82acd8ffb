// A bus that loses announcements, or holds them back and lets them go in another order.

import type { Announcement } from '#domain/feed'
import type { Bus } from '#domain/ports'

export class ShakyBus implements Bus {
  mode: 'pass' | 'lose' | 'hold' = 'pass'
  readonly #bus: Bus
  readonly #held: (() => void)[] = []

  constructor(bus: Bus) {
    this.#bus = bus
  }

  announce(announcements: readonly Announcement[]): void {
    this.#bus.announce(announcements)
  }

  listen(...[channelId, listener]: Parameters<Bus['listen']>): () => void {
    let isOver = false
    const stop = this.#bus.listen(channelId, (announcement) => {
      if (this.mode === 'pass') listener(announcement)
      if (this.mode !== 'hold') return
      this.#held.push(() => {
        if (!isOver) listener(announcement)
      })
    })
    return () => {
      isOver = true
      stop()
    }
  }

  /** Lets everything that is held go, the next one by this choice out of so many. */
  release(choose: (below: number) => number): void {
    while (this.#held.length > 0) this.#held.splice(choose(this.#held.length), 1)[0]?.()
  }

  flush(): Promise<void> {
    return this.#bus.flush()
  }

  notify(...notice: Parameters<Bus['notify']>): void {
    this.#bus.notify(...notice)
  }

  onNotice(...listener: Parameters<Bus['onNotice']>): () => void {
    return this.#bus.onNotice(...listener)
  }
}
