// A client as a subscriber of its channel: which entries of the feed go out, in which packets.
// Deliveries are decided as for every device (src/transports/serving.ts), so a client that reads
// slowly falls behind, and gets each changed Thing once with its whole state.
//
// Invariants:
//   subscriber/1. SUBACK leaves once the channel is followed: every later entry reaches the client.
//   subscriber/2. SUBACK and UNSUBACK of a kept session leave once the store has its subscriptions.
//   subscriber/3. A read follows every packet that was decided before it: recent entries answer it
//                 at once, and their packets would overtake those.

import type { Position } from '#domain/feed'
import type { OperationId } from '#domain/identity'
import type { OpenChannel } from '#src/acceptance/channel-access'
import { Serving } from '#src/transports/serving'
import type { Input as FeedInput, Output as FeedOutput } from '#src/transports/signals'
import { encode } from './codec.ts'
import type { Packet, ProtocolLevel, SubackPacket } from './codec.ts'
import type { SubscribePacket, UnsubscribePacket } from './codec.ts'
import { newsOf } from './news.ts'
import type { News } from './news.ts'
import { Outgoing } from './outgoing.ts'
import type { OutgoingBounds } from './outgoing.ts'
import { Subscriptions } from './subscriptions.ts'
import type { Match, StoredSubscription } from './subscriptions.ts'
import { REASON, subscriptionLine } from './reasons.ts'

/** What the feed tells a subscriber. */
export type FeedNews =
  | Extract<FeedInput, { readonly kind: 'announced' | 'pages' | 'postponed' | 'buffered' }>
  /** The channel is followed from this position on; undefined when it is not. */
  | { readonly kind: 'following'; readonly position: Position | undefined }
  /** The channel has no room for a device more. */
  | { readonly kind: 'full' }
  /** The head in the store, which shows what the bus has lost. */
  | { readonly kind: 'head'; readonly headSeq: number }

export type FeedRequest =
  | Extract<FeedOutput, { readonly kind: 'read-pages' }>
  /**
   * Follow the channel, and keep these subscriptions; without any, leave it. The answer is
   * `following`, or `full`.
   */
  | { readonly kind: 'follow'; readonly kept?: readonly StoredSubscription[] }
  /** The client has everything up to here, which its session keeps. */
  | Extract<FeedOutput, { readonly kind: 'acknowledge' }>
  /** The feed begins again, and so must the connection. */
  | { readonly kind: 'resync' }
  /** Send the present state that these filters match. */
  | { readonly kind: 'retain'; readonly filters: readonly (readonly string[])[] }

/** The client's own publishes, for subscriptions that do not want them. */
export interface OwnPublishes {
  /** Begins to remember them. */
  remember(): void
  has(opId: OperationId): boolean
}

interface SubscriberOptions {
  /** What the client takes, and whether it wants to know why something is refused. */
  readonly bounds: OutgoingBounds & { readonly wantsReasons: boolean }
  readonly own: OwnPublishes
  /** Those of a kept session; undefined for one that is not kept. */
  readonly subscriptions?: readonly StoredSubscription[] | undefined
}

type SubscriberOutput = { readonly kind: 'send'; readonly packet: Packet } | FeedRequest

export type { StoredSubscription }

/** Codes from here on are refusals; MQTT 3.1.1 has one for all. */
const REFUSED = 0x80

export class Subscriber {
  readonly #level: ProtocolLevel
  readonly #bounds: SubscriberOptions['bounds']
  readonly #subscriptions: Subscriptions
  readonly #outgoing: Outgoing
  readonly #own: OwnPublishes
  readonly #isKept: boolean
  #serving: Serving | undefined
  #position: Position | undefined
  /** Answers that wait for the channel, and for the store. (subscriber/1, subscriber/2) */
  #pending: SubscriberOutput[] | undefined
  /** True when the subscriptions changed after the store was asked to keep them. */
  #isStale = false

  constructor(
    level: ProtocolLevel,
    open: OpenChannel,
    { bounds, own, subscriptions }: SubscriberOptions,
  ) {
    this.#level = level
    this.#bounds = bounds
    this.#subscriptions = new Subscriptions(open, subscriptions)
    this.#outgoing = new Outgoing(bounds)
    this.#own = own
    this.#isKept = subscriptions !== undefined
    if (subscriptions?.some(({ nl }) => nl) === true) own.remember()
  }

  /** Goes on with the subscriptions of a kept session. */
  resume(): SubscriberOutput[] {
    return this.#subscriptions.size === 0 ? [] : this.#answered([])
  }

  subscribe({ messageId, subscriptions, properties }: SubscribePacket): SubscriberOutput[] {
    const id = properties?.subscriptionIdentifier
    if (subscriptions.some(({ nl }) => nl === true)) this.#own.remember()
    const granted = subscriptions.map((sent) => this.#subscriptions.add(sent, id))
    const codes = granted.map(({ code }) => (this.#level === 5 || code < REFUSED ? code : REFUSED))
    const filters = granted.flatMap(({ retained }) => (retained === undefined ? [] : [retained]))
    const answers: SubscriberOutput[] = [
      { kind: 'send', packet: this.#explained(messageId ?? 0, codes) },
    ]
    if (filters.length > 0) answers.push({ kind: 'retain', filters })
    const isFollowed = this.#serving !== undefined || this.#subscriptions.size === 0
    return isFollowed && !this.#isKept ? answers : this.#answered(answers)
  }

  unsubscribe({ messageId, unsubscriptions }: UnsubscribePacket): SubscriberOutput[] {
    const granted = unsubscriptions.map((topic) => this.#subscriptions.remove(topic))
    const packet = { cmd: 'unsuback', messageId: messageId ?? 0, granted } as const
    const answers: SubscriberOutput[] = [{ kind: 'send', packet }]
    return this.#isKept ? this.#answered(answers) : answers
  }

  /** Takes a PUBACK. */
  acknowledged(messageId: number): SubscriberOutput[] {
    return this.#outgoing.acknowledged(messageId) ? this.#flow([]) : []
  }

  /** Takes news of the feed. */
  news(news: FeedNews): SubscriberOutput[] {
    if (news.kind === 'following') return this.#following(news.position)
    if (news.kind === 'full') return this.#refused()
    const serving = this.#serving
    if (serving === undefined) return []
    const outputs: FeedOutput[] = []
    if (news.kind === 'announced') serving.announced(news, outputs)
    else if (news.kind === 'pages') {
      if (serving.pages(news.ticket, news.pages, outputs) === 'resync') return [{ kind: 'resync' }]
    } else if (news.kind === 'postponed') serving.postponed(news.ticket)
    else if (news.kind === 'buffered') serving.bufferedBytes(news.bytes, outputs)
    else if (this.#position !== undefined) {
      serving.heads([{ ...this.#position, headSeq: news.headSeq }], outputs)
    }
    return this.#flow(outputs)
  }

  /** Lets postponed reads begin again. */
  tick(): SubscriberOutput[] {
    const outputs: FeedOutput[] = []
    this.#serving?.tick(outputs)
    return this.#flow(outputs)
  }

  /** True while a read waits for a tick. */
  get isPostponed(): boolean {
    return this.#serving?.isPostponed === true
  }

  /** The packets of present state that the subscriptions match. */
  retained(news: readonly News[]): SubscriberOutput[] {
    return news.flatMap((each): SubscriberOutput[] => {
      const match = this.#subscriptions.match(each.topic, false)
      if (match === undefined) return []
      // The state is there to be asked for again, so it needs no acknowledgement.
      const packet = this.#outgoing.publish(each, { ...match, qos: 0 }, true)
      return packet === undefined ? [] : [{ kind: 'send', packet }]
    })
  }

  get wantsAttrs(): boolean {
    return this.#subscriptions.wantsAttrs
  }

  /** Answers once the channel is followed, and the store has what is to be kept. */
  #answered(answers: readonly SubscriberOutput[]): SubscriberOutput[] {
    if (this.#pending !== undefined) {
      this.#pending.push(...answers)
      this.#isStale = this.#isKept
      return []
    }
    this.#pending = [...answers]
    return [this.#follow()]
  }

  #follow(): FeedRequest {
    this.#isStale = false
    return this.#isKept ? { kind: 'follow', kept: this.#subscriptions.stored } : { kind: 'follow' }
  }

  #following(position: Position | undefined): SubscriberOutput[] {
    if (this.#isStale) return [this.#follow()] // subscriber/2
    const pending = this.#pending ?? []
    this.#pending = undefined
    if (position === undefined) this.#serving = undefined
    if (position === undefined || this.#serving !== undefined) return pending
    const { channelId, sinceSeq, ackedSeq } = position
    this.#position = position
    this.#serving = new Serving()
    const outputs: FeedOutput[] = []
    this.#serving.begin([position], new Map([[channelId, Math.max(sinceSeq, ackedSeq)]]), outputs)
    return [...pending, ...this.#flow(outputs)]
  }

  /** Refuses every subscription that waits. */
  #refused(): SubscriberOutput[] {
    const refusal = this.#level === 5 ? REASON.quotaExceeded : REFUSED
    const pending = this.#pending ?? []
    this.#pending = undefined
    this.#subscriptions.clear()
    return pending.flatMap((answer): SubscriberOutput[] => {
      if (answer.kind !== 'send') return []
      const { packet } = answer
      if (packet.cmd !== 'suback') return [answer]
      const codes = packet.granted.map(() => refusal)
      return [{ kind: 'send', packet: this.#explained(packet.messageId ?? 0, codes) }]
    })
  }

  /** A SUBACK; why the first of its filters is refused stands in it where the client takes that. */
  #explained(messageId: number, granted: number[]): SubackPacket {
    const plain: SubackPacket = { cmd: 'suback', messageId, granted }
    const refused = granted.find((code) => code >= REFUSED)
    const { wantsReasons, packetBytesMax } = this.#bounds
    if (refused === undefined || this.#level === 4 || !wantsReasons) return plain
    const packet = { ...plain, properties: { reasonString: subscriptionLine(refused) } }
    return encode(packet, this.#level).length > packetBytesMax ? plain : packet
  }

  /** Turns deliveries into packets and tells what is done with, as long as both go on. */
  #flow(outputs: FeedOutput[]): SubscriberOutput[] {
    const flowing: SubscriberOutput[] = []
    const reads: SubscriberOutput[] = []
    for (let next = outputs; ;) {
      for (const output of next) {
        if (output.kind === 'read-pages') reads.push(output)
        else if (output.kind === 'acknowledge') {
          if (this.#isKept) flowing.push(output)
        } else if (output.kind === 'deliver') this.#deliver(output)
      }
      for (const packet of this.#outgoing.packets()) flowing.push({ kind: 'send', packet })
      const seq = this.#outgoing.done()
      // subscriber/3
      if (seq === undefined || this.#position === undefined) return [...flowing, ...reads]
      next = []
      this.#serving?.acknowledge(this.#position.channelId, seq, next)
    }
  }

  #deliver({ frame }: Extract<FeedOutput, { readonly kind: 'deliver' }>): void {
    const { entry, seq } = frame
    if (entry === undefined) return this.#outgoing.add(seq, [])
    const isOwn = this.#own.has(entry.opId)
    const publishes = newsOf(entry, this.wantsAttrs).flatMap((news): [News, Match][] => {
      const match = this.#subscriptions.match(news.topic, isOwn)
      return match === undefined ? [] : [[news, match]]
    })
    this.#outgoing.add(seq, publishes)
  }
}
