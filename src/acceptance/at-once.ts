// Runs a bounded number of jobs at once; the others wait in the order in which they came. The
// requests in flight bound those that wait.

import type { ReadStore } from '#domain/store-ports'

export class AtOnce {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  get waiting(): number {
    return this.#waiting.length
  }

  async run<Answer>(job: () => Promise<Answer>): Promise<Answer> {
    if (this.#running < this.#most) this.#running += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await job()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}

/** The same reads; those that give pages wait for a place. */
export const pagesAtOnce = (read: ReadStore, pages: AtOnce): ReadStore => ({
  thing: (channelId, id) => read.thing(channelId, id),
  event: (channelId, id) => read.event(channelId, id),
  catchUp: (requests, bytes) => read.catchUp(requests, bytes),
  things: (query) => pages.run(() => read.things(query)),
  events: (query) => pages.run(() => read.events(query)),
  history: (query) => pages.run(() => read.history(query)),
  pull: (deviceId, limit) => pages.run(() => read.pull(deviceId, limit)),
})
