// The publishes to one client, from their turn to their acknowledgement.
//
// Invariants:
//   outgoing/1. At most as many publishes at QoS 1 are unacknowledged as the client takes; the
//               others wait in their order.
//   outgoing/2. An entry is done with once every publish of it is sent, and acknowledged where that
//               is asked for; entries are done with in their order.
//   outgoing/3. A publish beyond the client's packet size is left out, and counts as sent.

import { encode } from './codec.ts'
import type { Packet, PublishPacket } from './codec.ts'
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
    const entry = { seq, left: publishes.length }
    this.#entries.push(entry)
    for (const [news, match] of publishes) this.#waiting.push({ news, match, entry })
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
      const packet = this.publish(news, match, false)
      if (packet === undefined || match.qos === 0) entry.left -= 1
      if (packet === undefined) continue
      if (match.qos === 1) {
        packet.messageId = this.#nextId()
        this.#unacknowledged.set(packet.messageId, entry)
      }
      yield packet
    }
    this.#waiting.splice(0, sent)
  }

  /** The seq up to which entries are done with since the last call; undefined for none. */
  done(): number | undefined {
    let seq: number | undefined
    while (this.#entries[0]?.left === 0) seq = this.#entries.shift()?.seq // outgoing/2
    return seq
  }

  /** One PUBLISH, without its packet id; undefined for one that the client does not take. */
  publish(news: News, match: Match, retain: boolean): PublishPacket | undefined {
    const { topic } = news
    const known = this.#aliases.get(topic)
    if (known !== undefined) return this.#fitting({ ...news, topic: '' }, match, retain, known)
    // The first topics get the aliases that the client allows.
    const { size } = this.#aliases
    const hasRoom = size < Math.min(ALIASES_MAX, this.#bounds.topicAliasMax)
    const packet = hasRoom ? this.#fitting(news, match, retain, size + 1) : undefined
    if (packet !== undefined) this.#aliases.set(topic, size + 1)
    return packet ?? this.#fitting(news, match, retain)
  }

  #fitting(
    { topic, payload }: News,
    { qos, identifiers }: Match,
    retain: boolean,
    topicAlias?: number,
  ): PublishPacket | undefined {
    const properties = {
      ...(topicAlias !== undefined && { topicAlias }),
      ...(identifiers.length > 0 && { subscriptionIdentifier: [...identifiers] }),
    }
    const packet: PublishPacket = {
      cmd: 'publish',
      topic,
      payload,
      qos,
      retain,
      dup: false,
      ...(Object.keys(properties).length > 0 && { properties }),
    }
    return this.#fits(packet) ? packet : undefined // outgoing/3
  }

  /** Only a client of MQTT 5 has such a bound. */
  #fits(packet: PublishPacket): boolean {
    const { packetBytesMax } = this.#bounds
    return (
      packetBytesMax === Infinity || encode({ messageId: 1, ...packet }, 5).length <= packetBytesMax
    )
  }

  #nextId(): number {
    do this.#lastId = (this.#lastId % PACKET_ID_MAX) + 1
    while (this.#unacknowledged.has(this.#lastId))
    return this.#lastId
  }
}
