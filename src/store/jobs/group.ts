// Joins small requests that wait for the database: one transaction, and one fsync, serves many. So
// a crowd of them takes few places in the gate.
//
// Invariants:
//   group/1. One job runs at a time; requests that come before it begins are part of it, up to
//     AT_ONCE_MAX. It begins once the thread has received the messages at hand: otherwise each
//     message from another thread would have a job of its own.
//   group/2. At most JOBS_WAITING_MAX wait; the next one is refused at once, without effect.
//   group/3. A failed job fails for all its parts. Requests behind it have a job of their own.

import type { Runtime } from '#domain/runtime'
import { JOBS_WAITING_MAX } from './gate.ts'
import type { Database } from './database.ts'
import type { Executor } from './executor.ts'
import { StoreBusy } from '#src/store/store-error'

/** Items of one job at most. A turn waits for one such job, which takes some milliseconds. */
export const AT_ONCE_MAX = 256

interface GroupWork<Item, Answer> {
  /** Enters the gate with a job, of one of Database's kinds. */
  readonly enter: (
    job: (executor: Executor) => Promise<readonly Answer[]>,
  ) => Promise<readonly Answer[]>
  /** Returns one answer for each item, in their order. A repeat gets the same items. */
  readonly answer: (executor: Executor, items: readonly Item[]) => Promise<readonly Answer[]>
}

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export class Group<Item, Answer> {
  readonly #work: GroupWork<Item, Answer>
  readonly #waiting: Waiting<Item, Answer>[] = []
  readonly #soon: Runtime['soon']
  #isServing = false

  constructor(database: Pick<Database, 'countQueue' | 'soon'>, work: GroupWork<Item, Answer>) {
    this.#work = work
    this.#soon = database.soon
    database.countQueue(() => this.#waiting.length)
  }

  /** Returns the item's own answer. Rejects with StoreBusy, or as the job does. */
  ask(item: Item): Promise<Answer> {
    const { length } = this.#waiting
    if (length >= JOBS_WAITING_MAX) return Promise.reject(new StoreBusy(length)) // group/2
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#serveSoon()
    })
  }

  /** group/1 */
  #serveSoon(): void {
    if (this.#isServing || this.#waiting.length === 0) return
    this.#isServing = true
    this.#soon(() => {
      void this.#serveOnce().finally(() => {
        this.#isServing = false
        this.#serveSoon()
      })
    })
  }

  async #serveOnce(): Promise<void> {
    let group: readonly Waiting<Item, Answer>[] = []
    try {
      const answers = await this.#work.enter((executor) => {
        if (group.length === 0) group = this.#waiting.splice(0, AT_ONCE_MAX)
        return this.#work.answer(
          executor,
          group.map(({ item }) => item),
        )
      })
      for (const [index, { resolve, reject }] of group.entries()) {
        const answer = answers[index]
        if (index < answers.length) resolve(answer as Answer)
        else reject(new Error('a group gave fewer answers than it had items'))
      }
    } catch (error) {
      const failed = group.length > 0 ? group : this.#waiting.splice(0) // group/3
      for (const { reject } of failed) reject(error)
    }
  }
}
