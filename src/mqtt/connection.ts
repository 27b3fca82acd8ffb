// One client's connection: performs the outputs of its session, and brings it the packets in turn.
//
// Invariants:
//   mqtt-connection/1. A packet waits while the session has no room for it. While one waits,
//                      nothing more is read.
//   mqtt-connection/2. A connection whose client does not read its answers is not read either.
//   mqtt-connection/3. A defect in one connection ends that connection and no other.
//   mqtt-connection/4. MQTT 3.1.1 has no word for a refusal: a publish is not acknowledged when the
//                      credentials of its session are over, and its client sends it again.
//   mqtt-connection/5. Credentials are proven once more when notices reach the connection, before
//                      CONNACK: their end may have been told between the first proof and then.

import { reportDefect } from '#domain/defect'
import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { HELD_PAUSE } from './bounds.ts'
import type { CarrierHandle, MqttCarrier } from './carrier.ts'
import { bytesOf, encode } from './codec.ts'
import type { BrokenPacket, Packet } from './codec.ts'
import type { Opening } from './connect.ts'
import { enter } from './entrance.ts'
import type { Client } from './entrance.ts'
import { Following } from './following.ts'
import type { FollowedBy } from './following.ts'
import { Incoming } from './incoming.ts'
import type { Kept } from './lasting.ts'
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
  tickBefore: MqttConnection | undefined
  tickAfter: MqttConnection | undefined
  readonly #ports: ConnectionPorts<MqttConnection>
  readonly #session: Session
  readonly #incoming: Incoming
  /** Bytes of the packet in hand, as long as no submission has taken them over. */
  #inHand = 0
  readonly #writing: Writing
  #isGone = false
  /** Room for what is kept while the connection lives. */
  #kept: Kept | undefined
  #client: Client | undefined
  /** Milliseconds for which the session is kept behind the connection. */
  #keptMs = 0
  #following: Following | undefined

  constructor(carrier: MqttCarrier, openingMs: number, ports: ConnectionPorts<MqttConnection>) {
    this.carrier = carrier
    this.#ports = ports
    const { runtime, strangers, ticks } = ports
    this.#session = new Session(runtime.monotonicMs() - openingMs)
    const resume = (): void => runtime.soon(() => this.#incoming.pump())
    this.#writing = new Writing(this, ports)
    this.#incoming = new Incoming(strangers.open(carrier.address, resume), this, runtime.soon)
    ticks.atLatest(this, this.#session.tickAt)
  }

  /** The client, once its credentials are good. */
  get client(): Client | undefined {
    return this.#client
  }

  receive(bytes: Buffer): void {
    if (this.#isGone) return
    this.#incoming.receive(bytes)
    this.#incoming.pump()
    if (this.#incoming.isStuck) this.leave('busy')
  }

  /** The carrier holds so many bytes by now. */
  drained(bytes: number): void {
    this.#writing.drained(bytes)
    this.#incoming.pump()
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

  /** Ends the connection and its session. */
  removed(): void {
    this.#keptMs = 0
    this.leave('not-authorized')
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

  take(packet: Packet | BrokenPacket): void {
    if (typeof packet === 'string') return this.feed({ kind: 'broken', reason: packet })
    this.#inHand = bytesOf(packet)
    this.feed({ kind: 'packet', packet })
    this.#incoming.done(this.#inHand)
  }

  get isReady(): boolean {
    if (this.#isGone || this.#writing.isSlow) return false // mqtt-connection/2
    return this.#session.isReady // mqtt-connection/1
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
    const room = this.#ports.lasting.keep(opening, this.#inHand, this.carrier.address)
    if (isFault(room)) return this.feed({ kind: 'refused', fault: room })
    this.#kept = room
    const visitor = { opening, address: this.carrier.address, reply: this.#reply.bind(this) }
    const answer = await enter(visitor, this.#ports)
    if (isFault(answer)) return this.feed({ kind: 'refused', fault: answer })
    this.#keptMs = answer.keptMs
    this.#client = answer
    if (this.#isGone) return this.#leaveBehind()
    this.#ports.entered(this)
    this.#incoming.entered(this.#ports.inFlight)
    const fault = await answer.refusal() // mqtt-connection/5
    // The key has ended before its session was there to end with it.
    if (fault !== undefined && answer.open.key !== undefined) this.#keptMs = 0
    if (fault === undefined) this.feed({ ...answer.opened(), aliasMax: room.aliasMax })
    else this.feed({ kind: 'refused', fault })
    this.#incoming.pump()
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
      this.#incoming.pump()
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
    this.#kept?.release()
    this.#following?.end()
    this.#writing.end()
    this.#ports.ticks.remove(this)
    const testament = end === 'clean' ? undefined : this.#testament
    this.#client?.publisher.end(testament?.will)
    this.#leaveBehind()
    this.#ports.left(this, testament)
  }

  get #testament(): Testament | undefined {
    if (this.#client === undefined) return undefined
    const { opening, publisher, open, kept } = this.#client
    const { will, credentials } = opening
    const password = credentials.password ?? credentials.userName
    const keptMs = kept === undefined ? 0 : this.#keptMs
    return will && { will, publisher, open, password, keptMs }
  }

  #leaveBehind(): void {
    if (this.#client?.kept !== undefined) this.#ports.gone(this.#client, this.#keptMs)
  }
}
