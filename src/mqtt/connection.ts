// One client's connection: performs the outputs of its session, and brings it the packets in turn.
//
// Invariants:
//   mqtt-connection/1. A packet waits while the session has no room for it. While one waits,
//                      nothing more is read.
//   mqtt-connection/2. A connection whose client does not read its answers is not read either.
//   mqtt-connection/3. A defect in one connection ends that connection and no other.
//   mqtt-connection/4. MQTT 3.1.1 has no word for a refusal: a publish is not acknowledged when the
//                      credentials of its session are over, and its client sends it again.

import { reportDefect } from '#domain/defect'
import { isFault } from '#domain/fault'
import { BUSY } from '#src/refusals/rejection'
import type { Fault } from '#domain/fault'
import { HELD_PAUSE } from './bounds.ts'
import type { CarrierHandle, MqttCarrier } from './carrier.ts'
import { bytesOf, encode } from './codec.ts'
import type { Packet } from './codec.ts'
import type { Opening } from './connect.ts'
import { enter } from './entrance.ts'
import type { Client } from './entrance.ts'
import { Following } from './following.ts'
import type { FollowedBy } from './following.ts'
import { Incoming } from './incoming.ts'
import type { News } from './news.ts'
import type { ConnectionPorts } from './ports.ts'
import type { Reply } from '#src/mqtt/devices/publish'
import { Session } from './session.ts'
import type { Input, Leave, Output, OutputOf } from './signals.ts'
import type { FeedNews } from './subscriber.ts'
import type { Testament } from './wills.ts'
import { Writing } from './writing.ts'
import type { Writer } from './writing.ts'

/** Refusals of a publish after which its session is worth nothing. */
const ENDINGS: ReadonlySet<Fault['code']> = new Set(['channel_not_found', 'key_expired'])

export class MqttConnection implements CarrierHandle, FollowedBy, Writer {
  readonly carrier: MqttCarrier
  tickSlice: number | undefined
  readonly #ports: ConnectionPorts<MqttConnection>
  readonly #session: Session
  readonly #incoming: Incoming
  /** Bytes of the packet in hand, as long as no submission has taken them over. */
  #inHand = 0
  readonly #writing: Writing
  #isGone = false
  #client: Client | undefined
  /** Milliseconds for which the session is kept behind the connection. */
  #keptMs = 0
  #following: Following | undefined

  constructor(carrier: MqttCarrier, openingMs: number, ports: ConnectionPorts<MqttConnection>) {
    this.carrier = carrier
    this.#ports = ports
    const { runtime, inFlight, ticks } = ports
    this.#session = new Session(runtime.monotonicMs() - openingMs)
    this.#writing = new Writing(this, ports)
    const resume = (): void => runtime.soon(() => this.#pump())
    this.#incoming = new Incoming(inFlight.open(carrier.address, resume))
    ticks.atLatest(this, this.#session.tickAt)
  }

  /** The client, once its credentials are good. */
  get client(): Client | undefined {
    return this.#client
  }

  receive(bytes: Buffer): void {
    if (this.#isGone) return
    const broken = this.#incoming.receive(bytes)
    this.#pump()
    if (broken !== undefined) this.feed({ kind: 'broken', reason: broken })
    else if (this.#incoming.isStuck) this.leave('busy')
  }

  /** The carrier holds so many bytes by now. */
  drained(bytes: number): void {
    this.#writing.drained(bytes)
    this.#pump()
  }

  news(news: FeedNews): void {
    this.feed({ kind: 'feed', news })
  }

  retained(news: readonly News[]): boolean {
    this.feed({ kind: 'retained', news })
    return this.#writing.hasRoom()
  }

  taken(): Promise<void> {
    return this.#writing.taken()
  }

  wantsAttrs(): boolean {
    return this.#session.wantsAttrs
  }

  unavailable(): void {
    this.leave('busy')
  }

  ended(): void {
    this.leave('not-authorized')
  }

  takenOver(): void {
    this.leave('taken-over')
  }

  restarted(): void {
    this.leave('busy')
  }

  unread(): void {
    this.leave('unread')
  }

  /** Compares what a subscriber has with the store. */
  recheck(): void {
    this.#following?.recheck()
  }

  /** Ends the connection, with a reason where the protocol has one. */
  leave(reason: Leave): void {
    this.feed({ kind: 'leave', reason })
  }

  closed(): void {
    this.#gone('unclean')
  }

  /** Ends the connection at once; what its carrier holds is lost. */
  cut(): void {
    this.#gone('unclean')
    this.carrier.cut()
  }

  failed(error: unknown): void {
    this.#ports.logger.error('an MQTT connection failed', { ...reportDefect(error) })
    this.cut() // mqtt-connection/3
  }

  holds(before: number, bytes: number): void {
    if (this.#following === undefined || Math.max(before, bytes) <= HELD_PAUSE) return
    this.news({ kind: 'buffered', bytes })
  }

  feed(input: Input): void {
    if (this.#isGone) return
    try {
      for (const output of this.#session.handle(input, this.#ports.runtime.monotonicMs())) {
        this.#perform(output)
      }
      if (!this.#isGone) this.#ports.ticks.atLatest(this, this.#session.tickAt)
    } catch (error) {
      this.failed(error)
    }
  }

  /** Handles packets while there is room, and reads on when none waits. (mqtt-connection/1) */
  #pump(): void {
    while (!this.#isGone && this.#isReady) {
      const packet = this.#incoming.next()
      if (packet === undefined) break
      this.#inHand = bytesOf(packet)
      this.feed({ kind: 'packet', packet })
      this.#incoming.done(this.#inHand)
    }
    if (!this.#isGone) this.carrier.setReading(this.#isReady && this.#incoming.hasRoom)
  }

  get #isReady(): boolean {
    return this.#session.isReady && !this.#writing.isSlow // mqtt-connection/2
  }

  #perform(output: Output): void {
    switch (output.kind) {
      case 'send':
        this.#send(output.packet)
        break
      case 'open':
        void this.#enter(output.opening)
        break
      case 'submit':
        this.#submit(output)
        break
      case 'release':
        void this.#release(output.messageId)
        break
      case 'follow':
      case 'retain':
      case 'read-pages':
      case 'acknowledge':
      case 'resync':
        this.#followed()?.perform(output)
        break
      case 'close':
        this.#keptMs = Math.min(output.keptMs ?? this.#keptMs, this.#ports.keptMsMax)
        this.#writing.flush()
        this.#ports.ended(output.reason)
        this.#gone(output.isClean ? 'clean' : 'unclean')
        if (this.#writing.isSlow) this.carrier.cut()
        else this.carrier.close()
    }
  }

  async #enter(opening: Opening): Promise<void> {
    const visitor = { opening, address: this.carrier.address, reply: this.#reply.bind(this) }
    const answer = await enter(visitor, this.#ports).catch((error: unknown) => {
      this.#ports.logger.warn('the store did not answer a session', { ...reportDefect(error) })
      return BUSY
    })
    if (isFault(answer)) return this.feed({ kind: 'refused', fault: answer })
    this.#keptMs = answer.keptMs
    this.#client = answer
    if (this.#isGone) return this.#leaveBehind()
    this.#ports.entered(this)
    const { open, kept, madeId, keptMs, publisher: own } = answer
    this.feed({ kind: 'opened', open, own, kept, madeId, keptMs })
    this.#pump()
  }

  #submit({ ticket, publication }: OutputOf<'submit'>): void {
    const bytes = this.#inHand
    this.#inHand = 0
    // Always later: the session is in the midst of the packet.
    void Promise.resolve(this.#client?.publisher.publish(publication)).then((refusal) => {
      if (this.#isGone) return
      this.#incoming.done(bytes)
      if (refusal === 'taken-over') return this.leave(refusal)
      const isOver = refusal !== undefined && ENDINGS.has(refusal.code) // mqtt-connection/4
      const isTold = !isOver || this.#session.level === 5
      if (isTold) this.feed({ kind: 'settled', ticket, fault: refusal })
      if (isOver) this.leave('not-authorized')
      this.#pump()
    })
  }

  async #release(messageId: number): Promise<void> {
    const isOwned = await this.#client?.remembered?.release(messageId)
    if (isOwned === false) this.leave('taken-over')
    else this.feed({ kind: 'released', messageId })
  }

  #reply({ topic, payload }: Reply): void {
    const bytes = Buffer.from(payload)
    this.#send({ cmd: 'publish', topic, payload: bytes, qos: 0, dup: false, retain: false })
  }

  #send(packet: Packet): void {
    this.#writing.add(encode(packet, this.#session.level))
  }

  #followed(): Following | undefined {
    if (this.#client === undefined) return undefined
    const { open, owner, kept } = this.#client
    const whose = { by: this, owner: kept && owner }
    return (this.#following ??= new Following(this.#ports.following, open.channelId, whose))
  }

  #gone(end: 'clean' | 'unclean'): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#incoming.close()
    this.#following?.end()
    this.#writing.end()
    this.#ports.ticks.remove(this)
    this.#client?.publisher.end()
    this.#leaveBehind()
    this.#ports.left(this, end === 'clean' ? undefined : this.#testament)
  }

  get #testament(): Testament | undefined {
    if (this.#client === undefined) return undefined
    const { opening, publisher, open, kept } = this.#client
    const { will } = opening
    return will && { will, publisher, open, keptMs: kept === undefined ? 0 : this.#keptMs }
  }

  #leaveBehind(): void {
    if (this.#client?.kept !== undefined) this.#ports.gone(this.#client, this.#keptMs)
  }
}
