// The publishes to one client, from their turn to their acknowledgement.
//
// Invariants:
//   outgoing/1. At most as many publishes at QoS 1 are unacknowledged as the client takes; the
//               others wait in their order.
//   outgoing/2. An entry is done with once every publish of it is sent, and acknowledged where that
//               is asked for; entries are done with in their order.
//   outgoing/3. A publish beyond the client's packet size is left out.

import type { Packet } from './codec.ts'
import type { News } from './news.ts'
import type { Match } from './subscriptions.ts'

export interface OutgoingBounds {
  readonly receiveMax: number
  readonly packetBytesMax: number
  readonly topicAliasMax: number
}

interface Entry {
  readonly seq: number
  /** Publishes that are not done with. */
  left: number
}

interface Waiting {
  readonly news: News
  readonly match: Match
  readonly entry: Entry
}

const PACKET_ID_MAX = 0xffff
/** Bytes of a PUBLISH beside topic and payload. */
const FRAME_BYTES = 64
const ALIASES_MAX = 64

export class Outgoing {
  readonly #bounds: OutgoingBounds
  readonly #waiting: Waiting[] = []
  readonly #unacknowledged = new Map<number, Entry>()
  readonly #entries: Entry[] = []
  readonly #aliases = new Map<string, number>()
  #lastId = 0

  constructor(bounds: OutgoingBounds) {
    this.#bounds = bounds
  }

  /** Takes the publishes of an entry, in seq order. */
  add(seq: number, publishes: readonly (readonly [News, Match])[]): void {
    const fitting = publishes.filter(([news]) => this.#fits(news))
    const entry = { seq, left: fitting.length }
    this.#entries.push(entry)
    for (const [news, match] of fitting) this.#waiting.push({ news, match, entry })
  }

  /** Takes a PUBACK; false for an unknown packet id. */
  acknowledged(messageId: number): boolean {
    const entry = this.#unacknowledged.get(messageId)
    if (entry === undefined) return false
    this.#unacknowledged.delete(messageId)
    entry.left -= 1
    return true
  }

  /** The packets that may leave now. (outgoing/1) */
  *packets(): Iterable<Packet> {
    const { receiveMax } = this.#bounds
    let sent = 0
    for (const { news, match, entry } of this.#waiting) {
      if (match.qos === 1 && this.#unacknowledged.size >= receiveMax) break
      sent += 1
      if (match.qos === 0) {
        entry.left -= 1
        yield this.publish(news, match, false)
      } else {
        const messageId = this.#nextId()
        this.#unacknowledged.set(messageId, entry)
        yield { ...this.publish(news, match, false), messageId }
      }
    }
    this.#waiting.splice(0, sent)
  }

  /** The seq up to which entries are done with since the last call; undefined for none. */
  done(): number | undefined {
    let seq: number | undefined
    while (this.#entries[0]?.left === 0) seq = this.#entries.shift()?.seq // outgoing/2
    return seq
  }

  /** One PUBLISH. */
  publish({ topic, payload }: News, { qos, identifiers }: Match, retain: boolean): Packet {
    const alias = this.#aliasOf(topic)
    const properties = {
      ...(alias !== undefined && { topicAlias: alias.alias }),
      ...(identifiers.length > 0 && { subscriptionIdentifier: [...identifiers] }),
    }
    return {
      cmd: 'publish',
      topic: alias?.isKnown === true ? '' : topic,
      payload,
      qos,
      retain,
      dup: false,
      ...(Object.keys(properties).length > 0 && { properties }),
    }
  }

  /** outgoing/3 */
  #fits({ topic, payload }: News): boolean {
    const { packetBytesMax } = this.#bounds
    if (packetBytesMax === Infinity) return true
    return Buffer.byteLength(topic) + Buffer.byteLength(payload) + FRAME_BYTES <= packetBytesMax
  }

  /** The first topics get the aliases that the client allows. */
  #aliasOf(topic: string): { readonly alias: number; readonly isKnown: boolean } | undefined {
    const known = this.#aliases.get(topic)
    if (known !== undefined) return { alias: known, isKnown: true }
    if (this.#aliases.size >= Math.min(ALIASES_MAX, this.#bounds.topicAliasMax)) return undefined
    const alias = this.#aliases.size + 1
    this.#aliases.set(topic, alias)
    return { alias, isKnown: false }
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % PACKET_ID_MAX) + 1
    while (this.#unacknowledged.has(this.#lastId))
    return this.#lastId
  }
}
