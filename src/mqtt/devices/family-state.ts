// What earlier publishes of a connection said about later ones: aliases, data types, topics. It
// lives as long as its connection, and may be lost at any time: devices say it again when asked.
//
// Invariants:
//   family-state/1. A state takes at most the bytes of its budget, and all states of a budget
//                   together at most its total. Beyond either a state that grows forgets what it
//                   used longest ago.
//   family-state/2. A publish costs what it says and what it finds, not what is known beside that:
//                   entries change in place and are found by their keys.

import { BoundedItems } from '#domain/bounds/bounded-items'

/** The data type of a Sparkplug metric, by its number in the specification. */
export interface SparkplugMetric {
  readonly name: string
  readonly datatype: number
}

/** What may be forgotten as one. */
interface Known {
  /** An estimate of what it takes, without what every entry takes. */
  bytes: number
  /** Keys under which it is found beside its id. */
  readonly under: readonly string[]
}

/** One Sparkplug edge node with its devices. */
export interface SparkplugNode extends Known {
  readonly kind: 'sparkplug'
  /** By alias, which is unique in the node and its devices. */
  readonly aliases: Map<string, SparkplugMetric>
  /** Data types by device (empty text for the node itself) and metric name, joined by a slash. */
  readonly datatypes: Map<string, number>
  readonly devices: Set<string>
  /** The sequence number of the node's newest publish. */
  seq: number
  /** The birth that a death certificate belongs to; undefined when the birth had none. */
  readonly bdSeq: number | undefined
  /** True after a rebirth was asked for, until the birth comes. */
  isAsked: boolean
}

/** One Homie device, of its description; under its root, whose loss is the loss of this one. */
export interface HomieDevice extends Known {
  readonly kind: 'homie'
  readonly device: string
  /** Data types by node and property, joined by a slash. */
  readonly datatypes: ReadonlyMap<string, string>
}

/** The place at which the value of a discovered topic is kept. */
export interface DiscoveredValue {
  readonly thingId: string
  readonly attr: string
  /** Names that lead to the value in a JSON payload; empty for the payload itself. */
  readonly path: readonly string[]
  readonly words: Words | undefined
  /** The topics that bring it; undefined when that is one. */
  readonly filter?: string | undefined
}

/** The texts that stand for true and false, in lower case. */
export interface Words {
  readonly on: string
  readonly off: string
  /** True where any other text says nothing. */
  readonly areAll: boolean
}

/** One configuration of Home Assistant's discovery, under the topics that it names. */
export interface Discovery extends Known {
  readonly kind: 'discovery'
  readonly values: ReadonlyMap<string, readonly DiscoveredValue[]>
}

type Entry = SparkplugNode | HomieDevice | Discovery
type Kind = Entry['kind']
type EntryOf<K extends Kind> = Extract<Entry, { readonly kind: K }>

interface StateBounds {
  readonly perState: number
  readonly total: number
}

/** The bytes of several states together. */
export class StateBudget {
  readonly bounds: StateBounds
  /** Counts an entry that is forgotten because of the bounds. */
  readonly forgotten: () => void
  bytes = 0

  constructor(bounds: StateBounds, forgotten: () => void) {
    this.bounds = bounds
    this.forgotten = forgotten
  }
}

/** Bytes of an entry beside its content, and of each key that leads to it. */
const ENTRY_BYTES = 512
const KEY_BYTES = 160

/** An estimate of a text's bytes in memory. */
export const bytesOfText = (text: string): number => 32 + 2 * text.length

export class FamilyState {
  readonly #budget: StateBudget
  // A connection whose devices teach nothing, as most, has neither.
  #entries: BoundedItems<Entry> | undefined
  #idsUnder: Map<string, Set<string>> | undefined

  constructor(budget: StateBudget) {
    this.#budget = budget
  }

  /** An estimate of the bytes that it takes. */
  get bytes(): number {
    return this.#entries?.bytes ?? 0
  }

  /** The entry of a key, which is used by that. */
  get<K extends Kind>(kind: K, key: string): EntryOf<K> | undefined {
    return this.#entries?.use(idOf(kind, key)) as EntryOf<K> | undefined
  }

  /** The entries that are found under a key. (family-state/2) */
  *under<K extends Kind>(kind: K, key: string): Iterable<EntryOf<K>> {
    for (const id of this.#idsUnder?.get(idOf(kind, key)) ?? []) {
      const entry = this.#entries?.get(id)
      if (entry !== undefined) yield entry as EntryOf<K>
    }
  }

  /** Keeps an entry in place of that of its key; one that has grown is kept again. */
  keep(key: string, entry: Entry): void {
    const id = idOf(entry.kind, key)
    const { bounds, forgotten } = this.#budget
    const others = this.#budget.bytes - this.bytes
    this.#unlist(id)
    this.#entries ??= new BoundedItems()
    this.#entries.keep(id, entry, bytesOfEntry(id, entry))
    for (const name of entry.under) this.#list(idOf(entry.kind, name), id)
    this.#entries.keepWithin(Math.min(bounds.perState, bounds.total - others), (oldest) => {
      forgotten()
      this.#remove(oldest)
    }) // family-state/1
    this.#budget.bytes = others + this.bytes
  }

  forget(kind: Kind, key: string): undefined {
    const others = this.#budget.bytes - this.bytes
    this.#remove(idOf(kind, key))
    this.#budget.bytes = others + this.bytes
  }

  /** Forgets everything. */
  clear(): void {
    this.#budget.bytes -= this.bytes
    this.#entries = undefined
    this.#idsUnder = undefined
  }

  #remove(id: string): void {
    this.#unlist(id)
    this.#entries?.delete(id)
  }

  #list(key: string, id: string): void {
    this.#idsUnder ??= new Map()
    const ids = this.#idsUnder.get(key) ?? new Set<string>()
    this.#idsUnder.set(key, ids.add(id))
  }

  #unlist(id: string): void {
    const entry = this.#entries?.get(id)
    for (const name of entry?.under ?? []) {
      const key = idOf(entry?.kind ?? 'homie', name)
      const ids = this.#idsUnder?.get(key)
      ids?.delete(id)
      if (ids?.size === 0) this.#idsUnder?.delete(key)
    }
  }
}

const idOf = (kind: Kind, key: string): string => `${kind} ${key}`

const bytesOfEntry = (id: string, { bytes, under }: Entry): number =>
  under.reduce(
    (sum, key) => sum + KEY_BYTES + bytesOfText(key),
    ENTRY_BYTES + bytesOfText(id) + bytes,
  )

/** The state of a publish that comes alone: nothing is kept. */
export const NO_STATE = new FamilyState(new StateBudget({ perState: 0, total: 0 }, () => undefined))
