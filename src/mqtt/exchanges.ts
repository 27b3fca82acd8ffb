// The publishes of a kept session that may come again, each with the op_id under which it was
// submitted. At QoS 2 a packet id stands for one publish until its PUBREL; at QoS 1 a client never
// says that it has its acknowledgement, so the newest are remembered.
//
// Invariants:
//   exchanges/1. A publish that comes again has the op_id of its first coming: one effect.
//   exchanges/2. Another publish with the same packet id has an op_id of its own: it is not lost.
//   exchanges/3. At most REMEMBERED_MAX are remembered, the oldest are forgotten first; at QoS 2
//                those that wait for their PUBREL come beside them, and none of these is forgotten.

import { hash } from 'node:crypto'

import { parseOperationId } from '#domain/identity'
import type { Exchange, SessionOwner } from '#domain/mqtt/sessions'
import type { MadeIds } from '#src/acceptance/submissions'
import { REMEMBERED_MAX } from './bounds.ts'
import type { Publication } from './publishes.ts'

/** A publish with its op_id, which may have been submitted already when it comes again. */
export type Begun = Omit<Exchange, 'slot'> & Pick<MadeIds, 'mayRepeat'>

const DIGEST_LENGTH = 32

export class Exchanges {
  readonly #owner: SessionOwner
  /** By packet id, oldest first. */
  readonly #known = new Map<number, Exchange>()
  readonly #free: number[] = []
  #slots = 0
  #begun = 0

  constructor(owner: SessionOwner, kept: readonly Exchange[]) {
    this.#owner = owner
    for (const exchange of kept) {
      this.#slots = Math.max(this.#slots, exchange.slot + 1)
      if (exchange.packetId > 0) this.#known.set(exchange.packetId, exchange)
      else this.#free.push(exchange.slot)
    }
  }

  /** Packet ids that wait for their PUBREL. */
  get unreleased(): readonly number[] {
    return [...this.#known.values()].filter(({ qos }) => qos === 2).map(({ packetId }) => packetId)
  }

  /** A publish at QoS 1 or 2, or the first coming of one that comes again. Remembers nothing. */
  begin(publication: Publication): Begun {
    const { packetId, isRepeat, topic, payload } = publication
    const qos = publication.qos === 2 ? 2 : 1
    const content = Buffer.concat([Buffer.from(`${qos}${topic}\0`), payload])
    const digest = hash('sha256', content, 'hex').slice(0, DIGEST_LENGTH)
    const known = this.#known.get(packetId)
    if (known?.digest === digest && (isRepeat || qos === 2)) {
      return { ...known, mayRepeat: true } // exchanges/1
    }
    this.#begun += 1
    const { deviceId, number } = this.#owner
    const name = hash('sha256', `${deviceId}:${number}:${this.#begun}:${packetId}`, 'hex')
    const opId = parseOperationId(`mqtt-${name.slice(0, 32)}`) // exchanges/2
    if (opId === undefined) throw new Error('no op_id')
    return { packetId, opId, digest, qos }
  }

  /** Remembers a publish; returns what the store is to keep, undefined for one that it has. */
  keep(begun: Begun): Exchange | undefined {
    const { packetId, opId, digest, qos } = begun
    const known = this.#known.get(packetId)
    if (known?.opId === opId) return undefined
    const exchange = { slot: known?.slot ?? this.#slot(), packetId, opId, digest, qos }
    this.#known.delete(packetId)
    this.#known.set(packetId, exchange)
    return exchange
  }

  /** Ends the exchange of a PUBREL; returns what is to be kept in its place, if it was known. */
  release(packetId: number): Exchange | undefined {
    const known = this.#known.get(packetId)
    if (known?.qos !== 2) return undefined
    this.#known.delete(packetId)
    this.#free.push(known.slot)
    return { ...known, packetId: 0 }
  }

  /** exchanges/3 */
  #slot(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#known.size >= REMEMBERED_MAX) {
      for (const [packetId, { slot, qos }] of this.#known) {
        if (qos === 2) continue
        this.#known.delete(packetId)
        return slot
      }
    }
    this.#slots += 1
    return this.#slots - 1
  }
}
