// Dead letters in memory.

import type { DeadLetterStore, KeptDeadLetter } from '#domain/operator/dead-letters'
import type { Page } from '#domain/store-ports'

export class FakeDeadLetters implements DeadLetterStore {
  /** Oldest first. */
  kept: readonly KeptDeadLetter[] = []

  list({ after, limit }: Parameters<DeadLetterStore['list']>[0]): Promise<Page<KeptDeadLetter>> {
    const behind = this.kept.filter(({ id }) => id > after)
    const items = behind.slice(0, limit)
    const next = items.at(-1)?.id
    return Promise.resolve(
      next === undefined || items.length === behind.length ? { items } : { items, next },
    )
  }

  find(id: number): Promise<KeptDeadLetter | undefined> {
    return Promise.resolve(this.kept.find((one) => one.id === id))
  }

  remove(id: number): Promise<void> {
    this.kept = this.kept.filter((one) => one.id !== id)
    return Promise.resolve()
  }
}
