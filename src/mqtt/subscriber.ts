// A client as a subscriber of its channel: which entries of the feed go out, in which packets.
// Deliveries are decided as for every device (src/transports/serving.ts), so a client that reads
// slowly falls behind, and gets each changed Thing once with its whole state.
//
// Invariants:
//   subscriber/1. SUBACK leaves once the channel is followed: every later entry reaches the client.

import type { Position } from '#domain/feed'
import type { OperationId } from '#domain/identity'
import type { OpenChannel } from '#src/acceptance/channel-access'
import { Serving } from '#src/transports/serving'
import type { Input as FeedInput, Output as FeedOutput } from '#src/transports/signals'
import type { Packet, ProtocolLevel, SubscribePacket, UnsubscribePacket } from './codec.ts'
import { newsOf } from './news.ts'
import type { News } from './news.ts'
import { Outgoing } from './outgoing.ts'
import type { OutgoingBounds } from './outgoing.ts'
import { Subscriptions } from './subscriptions.ts'
import type { Match } from './subscriptions.ts'

/** What the feed tells a subscriber. */
export type FeedNews =
  | Extract<FeedInput, { readonly kind: 'announced' | 'pages' | 'postponed' | 'buffered' }>
  /** The channel is followed from this position on. */
  | { readonly kind: 'following'; readonly position: Position }
  /** The head in the store, which shows what the bus has lost. */
  | { readonly kind: 'head'; readonly headSeq: number }

export type FeedRequest =
  | Extract<FeedOutput, { readonly kind: 'read-pages' }>
  /** Follow the channel. The answer is `following`. */
  | { readonly kind: 'follow' }
  /** Send the present state that these filters match. */
  | { readonly kind: 'retain'; readonly filters: readonly (readonly string[])[] }

/** The client's own publishes, for subscriptions that do not want them. */
export interface OwnPublishes {
  /** Begins to remember them. */
  remember(): void
  has(opId: OperationId): boolean
}

export type SubscriberOutput = { readonly kind: 'send'; readonly packet: Packet } | FeedRequest

/** Codes from here on are refusals; MQTT 3.1.1 has one for all. */
const REFUSED = 0x80

export class Subscriber {
  readonly #level: ProtocolLevel
  readonly #subscriptions: Subscriptions
  readonly #outgoing: Outgoing
  readonly #own: OwnPublishes
  #serving: Serving | undefined
  #position: Position | undefined
  /** Answers that wait until the channel is followed. (subscriber/1) */
  #pending: SubscriberOutput[] | undefined

  constructor(
    level: ProtocolLevel,
    open: OpenChannel,
    { bounds, own }: { readonly bounds: OutgoingBounds; readonly own: OwnPublishes },
  ) {
    this.#level = level
    this.#subscriptions = new Subscriptions(open)
    this.#outgoing = new Outgoing(bounds)
    this.#own = own
  }

  subscribe({ messageId, subscriptions, properties }: SubscribePacket): SubscriberOutput[] {
    const id = properties?.subscriptionIdentifier
    if (subscriptions.some(({ nl }) => nl === true)) this.#own.remember()
    const granted = subscriptions.map((sent) => this.#subscriptions.add(sent, id))
    const codes = granted.map(({ code }) => (this.#level === 5 || code < REFUSED ? code : REFUSED))
    const filters = granted.flatMap(({ retained }) => (retained === undefined ? [] : [retained]))
    const answers: SubscriberOutput[] = [
      { kind: 'send', packet: { cmd: 'suback', messageId: messageId ?? 0, granted: codes } },
    ]
    if (filters.length > 0) answers.push({ kind: 'retain', filters })
    if (this.#serving !== undefined || this.#subscriptions.size === 0) return answers
    if (this.#pending !== undefined) {
      this.#pending.push(...answers)
      return []
    }
    this.#pending = answers
    return [{ kind: 'follow' }]
  }

  unsubscribe({ messageId, unsubscriptions }: UnsubscribePacket): SubscriberOutput[] {
    const granted = unsubscriptions.map((topic) => this.#subscriptions.remove(topic))
    const packet = { cmd: 'unsuback', messageId: messageId ?? 0, granted } as const
    return [{ kind: 'send', packet }]
  }

  /** Takes a PUBACK. */
  acknowledged(messageId: number): SubscriberOutput[] {
    return this.#outgoing.acknowledged(messageId) ? this.#flow([]) : []
  }

  /** Takes news of the feed. */
  news(news: FeedNews): SubscriberOutput[] {
    if (news.kind === 'following') return this.#begin(news.position)
    const serving = this.#serving
    if (serving === undefined) return []
    const outputs: FeedOutput[] = []
    if (news.kind === 'announced') serving.announced(news, outputs)
    else if (news.kind === 'pages') serving.pages(news.ticket, news.pages, outputs)
    else if (news.kind === 'postponed') serving.postponed(news.ticket)
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
      return [{ kind: 'send', packet: this.#outgoing.publish(each, { ...match, qos: 0 }, true) }]
    })
  }

  get wantsAttrs(): boolean {
    return this.#subscriptions.wantsAttrs
  }

  #begin(position: Position): SubscriberOutput[] {
    const pending = this.#pending ?? []
    this.#pending = undefined
    this.#position = position
    this.#serving = new Serving()
    const outputs: FeedOutput[] = []
    this.#serving.begin([position], new Map(), outputs)
    return [...pending, ...this.#flow(outputs)]
  }

  /** Turns deliveries into packets and tells what is done with, as long as both go on. */
  #flow(outputs: FeedOutput[]): SubscriberOutput[] {
    const flowing: SubscriberOutput[] = []
    for (let next = outputs; ;) {
      for (const output of next) {
        if (output.kind === 'read-pages') flowing.push(output)
        else if (output.kind === 'deliver') this.#deliver(output)
      }
      for (const packet of this.#outgoing.packets()) flowing.push({ kind: 'send', packet })
      const seq = this.#outgoing.done()
      if (seq === undefined || this.#position === undefined) return flowing
      next = []
      this.#serving?.acknowledge(this.#position.channelId, seq, next)
    }
  }

  #deliver({ frame }: Extract<FeedOutput, { readonly kind: 'deliver' }>): void {
    const { entry } = frame
    if (entry === undefined) return
    const isOwn = this.#own.has(entry.opId)
    const publishes = newsOf(entry, this.wantsAttrs).flatMap((news): [News, Match][] => {
      const match = this.#subscriptions.match(news.topic, isOwn)
      return match === undefined ? [] : [[news, match]]
    })
    this.#outgoing.add(entry.seq, publishes)
  }
}
