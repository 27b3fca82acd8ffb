// The publishes of a client, from their packets to their acknowledgements.
//
//   QoS 0: submit
//   QoS 1: submit ── in the log, or refused ──▶ PUBACK
//   QoS 2: submit ── in the log, or refused ──▶ PUBREC ── PUBREL ──▶ PUBCOMP
//
// Invariants:
//   publishes/1. An acknowledgement leaves only when the log has the submission, or when it is
//                refused. (W1)
//   publishes/2. Acknowledgements leave in the order of their publishes.
//   publishes/3. A packet id is submitted once until its exchange is over, however often it comes.
//   publishes/4. The publishes on their way to the log and the topic aliases are bounded.

import type { Fault } from '#domain/fault'
import { lineOf } from '#src/refusals/refusal'
import { RECEIVE_MAX, UNRELEASED_MAX } from './bounds.ts'
import type { Packet, ProtocolLevel, PublishPacket, QoS } from './codec.ts'
import { REASON, reasonOf } from './reasons.ts'
import type { ReasonCode } from './reasons.ts'
import { levelsOf } from './devices/topic.ts'

/** What a client publishes, with its topic alias resolved. */
export interface Publication {
  readonly topic: string
  readonly payload: Uint8Array
  readonly qos: QoS
  /** 0 at QoS 0, and for a will. */
  readonly packetId: number
  /** True when the client says that it may have sent it before. */
  readonly isRepeat: boolean
  /** The op_id of the sender's own choice. */
  readonly opId: string | undefined
  /** Seconds after which a Message is delivered to nobody; undefined for no such time. */
  readonly expirySeconds: number | undefined
}

/** What a PUBLISH asks for: its submission, an answer at once, nothing, or the connection's end. */
export type Taken =
  | { readonly kind: 'submit'; readonly ticket: number; readonly publication: Publication }
  | { readonly kind: 'answer'; readonly packet: Packet }
  | { readonly kind: 'known' }
  | { readonly kind: 'violation'; readonly reason: ReasonCode }

interface Waiting {
  readonly qos: 1 | 2
  readonly messageId: number
  answer: Packet | undefined
}

const KNOWN: Taken = { kind: 'known' }
const violation = (reason: ReasonCode): Taken => ({ kind: 'violation', reason })

interface Speech {
  readonly level: ProtocolLevel
  readonly wantsReasons: boolean
  /** Topic aliases that the client may set. */
  readonly aliasMax: number
}

export class Publishes {
  readonly #speech: Speech
  /** Publishes at QoS 1 and 2 without acknowledgement, in their order, by ticket. */
  readonly #waiting = new Map<number, Waiting>()
  readonly #waitingIds = new Set<number>()
  /** Packet ids at QoS 2 that had their PUBREC and wait for their PUBREL. */
  readonly #unreleased = new Set<number>()
  /** The same of an earlier connection, where the PUBREC, and all before it, may not have come. */
  readonly #earlier: Set<number>
  readonly #aliases = new Map<number, string>()
  /** Tickets at QoS 0 that are not settled. */
  readonly #unacknowledged = new Set<number>()
  #tickets = 0

  /** `earlier`: packet ids of the kept session that wait for their PUBREL. */
  constructor(speech: Speech, earlier: readonly number[] = []) {
    this.#speech = speech
    this.#earlier = new Set(earlier)
  }

  /** Publishes that are on their way to the log. */
  get underWay(): number {
    return this.#waiting.size + this.#unacknowledged.size
  }

  /** True when the next publish must wait; a client of MQTT 5 knows its bound. (publishes/4) */
  get isFull(): boolean {
    const held = this.#speech.level === 5 ? this.#unacknowledged.size : this.underWay
    return held >= RECEIVE_MAX
  }

  /** Takes a PUBLISH. */
  take(packet: PublishPacket): Taken {
    const { qos, messageId = 0 } = packet
    const topic = this.#topicOf(packet)
    if (topic === undefined) return violation(REASON.topicAliasInvalid)
    if (qos === 0) return this.#submit(packet, topic, this.#unacknowledged)
    if (this.#waitingIds.has(messageId)) return KNOWN // publishes/3
    if (qos === 2 && this.#unreleased.has(messageId)) {
      return { kind: 'answer', packet: { cmd: 'pubrec', messageId } } // publishes/3
    }
    if (this.#isBeyond()) return violation(REASON.receiveMaximumExceeded) // publishes/4
    this.#waitingIds.add(messageId)
    this.#earlier.delete(messageId)
    return this.#submit(packet, topic, undefined)
  }

  /** Takes the outcome of a submission; returns the packets that may leave now. */
  settle(ticket: number, refusal: Fault | undefined): readonly Packet[] {
    if (this.#unacknowledged.delete(ticket)) return []
    const settled = this.#waiting.get(ticket)
    if (settled === undefined) return []
    settled.answer = this.#answerTo(settled, refusal) // publishes/1
    const packets: Packet[] = []
    for (const [next, { answer, messageId, qos }] of this.#waiting) {
      if (answer === undefined) break // publishes/2
      this.#waiting.delete(next)
      this.#waitingIds.delete(messageId)
      const isRefused = 'reasonCode' in answer && (answer.reasonCode ?? 0) >= 0x80
      if (qos === 2 && !isRefused) this.#unreleased.add(messageId)
      packets.push(answer)
    }
    return packets
  }

  /** Takes a PUBREL; returns its PUBCOMP. */
  release(messageId: number): Packet {
    const isEarlier = this.#earlier.delete(messageId)
    const isKnown = this.#unreleased.delete(messageId) || isEarlier
    const reason =
      isKnown || this.#speech.level === 4 ? {} : { reasonCode: REASON.packetIdNotFound }
    return { cmd: 'pubcomp', messageId, ...reason }
  }

  #isBeyond(): boolean {
    if (this.#speech.level === 5) return this.#waiting.size + this.#unreleased.size >= RECEIVE_MAX
    return this.#unreleased.size >= UNRELEASED_MAX
  }

  #submit(packet: PublishPacket, topic: string, at0: Set<number> | undefined): Taken {
    this.#tickets += 1
    const ticket = this.#tickets
    const { qos, messageId = 0, dup: isRepeat } = packet
    if (at0 !== undefined) at0.add(ticket)
    else if (qos !== 0) this.#waiting.set(ticket, { qos, messageId, answer: undefined })
    const payload =
      typeof packet.payload === 'string' ? Buffer.from(packet.payload) : packet.payload
    const publication = {
      topic,
      payload,
      qos,
      packetId: messageId,
      isRepeat,
      opId: opIdOf(packet),
      expirySeconds: packet.properties?.messageExpiryInterval,
    }
    return { kind: 'submit', ticket, publication }
  }

  /** The topic of a packet, or the one that its alias stands for; undefined for a wrong alias. */
  #topicOf({ topic, properties }: PublishPacket): string | undefined {
    const alias = properties?.topicAlias
    if (alias === undefined) return topic
    if (alias === 0 || alias > this.#speech.aliasMax) return undefined // publishes/4
    // A topic beyond the bounds is kept as none: nothing maps either. (publishes/4)
    if (topic !== '') this.#aliases.set(alias, levelsOf(topic) === undefined ? '' : topic)
    return topic === '' ? this.#aliases.get(alias) : topic
  }

  #answerTo({ qos, messageId }: Waiting, refusal: Fault | undefined): Packet {
    const cmd = qos === 1 ? 'puback' : 'pubrec'
    if (refusal === undefined || this.#speech.level === 4) return { cmd, messageId }
    const reasonCode = reasonOf(refusal)
    if (!this.#speech.wantsReasons) return { cmd, messageId, reasonCode }
    return {
      cmd,
      messageId,
      reasonCode,
      properties: { reasonString: refusal.detail ?? lineOf(refusal) },
    }
  }
}

/** The op_id that the client has chosen, as a user property. */
function opIdOf({ properties }: PublishPacket): string | undefined {
  const sent = properties?.userProperties?.['op_id']
  return Array.isArray(sent) ? sent[0] : sent
}
