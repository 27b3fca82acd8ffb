// Virtual time: a queue of events in one thread. Time jumps from one event to the next, and
// everything that an event sets off by promises has run before the next one begins.

/** What an event belongs to. Events of a stopped owner wait, those of a dead one are dropped. */
export interface Owner {
  state: 'running' | 'stopped' | 'dead'
  /** Events that became due while it was stopped. */
  readonly held: Event[]
}

export interface Event {
  at: number
  order: number
  run: (() => void) | undefined
  readonly owner: Owner | undefined
}

/** Events between two looks at the queue of the platform: each is an immediate of its own. */
const AT_ONCE = 256

export class VirtualTime {
  /** A heap: the earliest event first, and among those of one moment the one that came first. */
  readonly #heap: Event[] = []
  #now = 0
  #order = 0
  #failure: Error | undefined

  get now(): number {
    return this.#now
  }

  /** The number of events that were ever scheduled. */
  get events(): number {
    return this.#order
  }

  /** Runs `task` after a delay. Returns the event, whose `run` may be cleared to cancel it. */
  after(delayMs: number, task: () => void, owner?: Owner): Event {
    const event: Event = { at: this.#now + Math.max(0, delayMs), order: 0, run: task, owner }
    this.#push(event)
    return event
  }

  /** Lets an owner go on, with the events that became due meanwhile, in their order. */
  resume(owner: Owner): void {
    if (owner.state !== 'stopped') return
    owner.state = 'running'
    for (const event of owner.held.splice(0)) {
      event.at = this.#now
      this.#push(event)
    }
  }

  /** Runs until `untilMs`, or until `isOver` is true after an event. */
  run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    return new Promise((resolve, reject) => {
      let isDone = false
      let left = 0
      const end = (): void => {
        isDone = true
        if (this.#failure === undefined) resolve()
        else reject(this.#failure)
      }
      const step = (): void => {
        left -= 1
        if (isDone) return
        if (isOver() || !this.#step(untilMs)) end()
        else if (left === 0) more()
      }
      // The platform runs every promise between two immediates.
      const more = (): void => {
        left = AT_ONCE
        for (let count = 0; count < AT_ONCE; count += 1) setImmediate(step)
      }
      more()
    })
  }

  /** Runs the next event that is due by then; false without one. */
  #step(untilMs: number): boolean {
    for (;;) {
      const [next] = this.#heap
      if (next === undefined || next.at > untilMs || this.#failure !== undefined) {
        this.#now = Math.max(this.#now, untilMs)
        return false
      }
      this.#pop()
      const { run, owner } = next
      if (run === undefined || owner?.state === 'dead') continue
      this.#now = Math.max(this.#now, next.at)
      if (owner?.state === 'stopped') {
        owner.held.push(next)
        continue
      }
      try {
        run()
      } catch (error) {
        this.#failure = error instanceof Error ? error : new Error('an event failed')
      }
      return true
    }
  }

  #push(event: Event): void {
    this.#order += 1
    event.order = this.#order
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const up = (at - 1) >> 1
      const parent = heap[up]
      if (parent === undefined || !isBefore(event, parent)) break
      heap[at] = parent
      at = up
    }
    heap[at] = event
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const one = heap[left]
      if (one === undefined) break
      const other = heap[left + 1]
      const isOther = other !== undefined && isBefore(other, one)
      const child = isOther ? other : one
      if (!isBefore(child, last)) break
      heap[at] = child
      at = isOther ? left + 1 : left
    }
    heap[at] = last
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order)
