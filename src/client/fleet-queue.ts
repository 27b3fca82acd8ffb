// The queue of a fleet sender: items with one key form a line, of which one item is sent at a time.
//
// Invariants:
//   fleet-queue/1. At most one item of each line is taken at a time, the oldest first. An item that
//     is put back is the next of its line.

type Key = string | symbol

interface Line<Item> {
  readonly items: Item[]
  isTaken: boolean
}

export interface Taken<Item> {
  readonly key: Key
  readonly item: Item
}

export class FleetQueue<Item> {
  /** The number of waiting items. */
  size = 0
  readonly #lines = new Map<Key, Line<Item>>()
  /** Keys of the lines whose next item may be taken, in order. */
  readonly #ready: Key[] = []

  /** Adds an item behind those with its key; without one it waits for no other. */
  add(key: string | undefined, item: Item): void {
    const own: Key = key ?? Symbol('no order')
    const line = this.#lines.get(own) ?? { items: [], isTaken: false }
    this.#lines.set(own, line)
    line.items.push(item)
    this.size += 1
    if (line.items.length === 1 && !line.isTaken) this.#ready.push(own)
  }

  /** Takes the next item of the next ready line. The caller releases it or puts it back. */
  take(): Taken<Item> | undefined {
    const key = this.#ready.shift()
    const line = key === undefined ? undefined : this.#lines.get(key)
    const item = line?.items.shift()
    if (key === undefined || line === undefined || item === undefined) return undefined
    line.isTaken = true // fleet-queue/1
    this.size -= 1
    return { key, item }
  }

  /** Ends a taken item: the next one of its line may be taken. */
  release({ key }: Taken<Item>): void {
    const line = this.#lines.get(key)
    if (line === undefined) return
    line.isTaken = false
    if (line.items.length > 0) this.#ready.push(key)
    else this.#lines.delete(key)
  }

  /** Makes a taken item wait again, before all others. */
  putBack({ key, item }: Taken<Item>): void {
    const line = this.#lines.get(key)
    if (line === undefined) return
    line.isTaken = false
    line.items.unshift(item) // fleet-queue/1
    this.size += 1
    this.#ready.unshift(key)
  }

  /** Removes all waiting items and gives them. */
  clear(): readonly Item[] {
    const items = [...this.#lines.values()].flatMap((line) => line.items.splice(0))
    this.#ready.length = 0
    this.size = 0
    return items
  }
}
