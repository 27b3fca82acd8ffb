// Which lines of the overview are read next: those of twenty Things at once, one read after the
// other.

/** The gateway reads no more Things at once. */
const THINGS_MAX = 20
/** Who scrolls on sees the newest of these. */
const WAITING_MAX = 200

interface LineReadsOptions {
  /** Reads the lines of an attr of some Things. Never rejects. */
  readonly read: (thingIds: readonly string[], attr: string) => Promise<void>
  /** Calls back once the list rests: one that is scrolled is read then. */
  readonly rest: (begin: () => void) => void
}

export class LineReads {
  readonly #options: LineReadsOptions
  /** The attr of each Thing whose line is read next. */
  readonly #waiting = new Map<string, string>()
  #isReading = false

  constructor(options: LineReadsOptions) {
    this.#options = options
  }

  /** Asks for the line of a Thing. Of too many the oldest is left out: it begins now. */
  want(thingId: string, attr: string): void {
    this.#waiting.set(thingId, attr)
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > WAITING_MAX && oldest !== undefined) this.#waiting.delete(oldest)
    if (this.#isReading) return
    this.#isReading = true
    this.#options.rest(() => void this.#readAll())
  }

  async #readAll(): Promise<void> {
    for (let [attr] = this.#waiting.values(); attr !== undefined;) {
      const of = attr
      const ids = [...this.#waiting].filter(([, each]) => each === of).map(([id]) => id)
      const chosen = ids.slice(-THINGS_MAX)
      for (const id of chosen) this.#waiting.delete(id)
      await this.#options.read(chosen, of)
      ;[attr] = this.#waiting.values()
    }
    this.#isReading = false
  }
}
