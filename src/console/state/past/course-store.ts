// Courses by Thing and attr, extended by the Thing's changes.

import type { ThingView } from '#src/client/view'
import { extended, since } from './thing-history.ts'
import type { Course } from './thing-history.ts'

export const keyOf = (thingId: string, attr: string): string => `${thingId} ${attr}`

export class LiveCourses {
  readonly courses = new Map<string, Course>()
  /** Counts the changes. */
  version = 0
  readonly #seqs = new Map<string, number>()
  readonly #setAt = new Map<string, number>()

  /** Takes what was read of a Thing. */
  take(thingId: string, courses: ReadonlyMap<string, Course>): void {
    for (const [attr, course] of courses) this.courses.set(keyOf(thingId, attr), course)
    this.version += 1
  }

  /**
   * Extends the courses of a Thing by its present values, each at its time, and forgets what is
   * before the span. The first state that is seen tells nothing new: what was read has it.
   */
  follow(thing: ThingView, timeOf: (attr: string) => number, fromMs: number): void {
    const { id, seq, attrs } = thing
    if (this.#seqs.get(id) === seq) return
    const isFirst = !this.#seqs.has(id)
    this.#seqs.set(id, seq)
    for (const [attr, value] of Object.entries(attrs)) {
      const key = keyOf(id, attr)
      const time = timeOf(attr)
      const isNew = this.#setAt.get(key) !== time
      this.#setAt.set(key, time)
      const course = this.courses.get(key)
      if (isFirst || !isNew || course === undefined) continue
      this.courses.set(key, since(extended(course, time, value), fromMs))
      this.version += 1
    }
  }
}
