// Runs MQTT for one connection, from CONNECT to its end. It has no clock and no I/O: it takes
// Inputs with monotonic time and returns Outputs.
//
//   greeting ── CONNECT ──▶ opening ── opened ──▶ serving ──▶ closed
//      └─── refused, too late, broken rules: closed ◀──────────┘
//
// Invariants:
//   mqtt-session/1. Nothing is submitted before the credentials of CONNECT are accepted.
//   mqtt-session/2. A closed session gives no outputs.
//   mqtt-session/3. A client that is silent for one and a half of its keep alive is gone.
//   mqtt-session/4. A session ends when its credentials expire.

import type { Fault } from '#domain/fault'
import { lineOf } from '#src/refusals/refusal'
import { CONNECT_WITHIN_MS, OPEN_WITHIN_MS, RECEIVE_MAX } from './bounds.ts'
import type {
  BrokenPacket,
  ConnackPacket,
  ConnectPacket,
  DisconnectPacket,
  Packet,
  ProtocolLevel,
} from './codec.ts'
import { PACKET_BYTES_MAX } from './codec.ts'
import { RETRY_READ_MS } from '#src/transports/signals'
import { keptMsOf, readConnect } from './connect.ts'
import type { Opening } from './connect.ts'
import { violationOf } from './packet-rules.ts'
import { Publishes } from './publishes.ts'
import { REASON, connectRefusalOf } from './reasons.ts'
import type { ConnectRefusal, ReasonCode } from './reasons.ts'
import type { Input, InputOf, Leave, Output } from './signals.ts'
import { Subscriber } from './subscriber.ts'

type Phase =
  | { readonly kind: 'greeting'; readonly untilMs: number }
  | { readonly kind: 'opening'; readonly opening: Opening; readonly untilMs: number }
  | {
      readonly kind: 'serving'
      readonly opening: Opening
      /** True for a session that outlives the connection. */
      readonly isKept: boolean
      readonly publishes: Publishes
      readonly subscriber: Subscriber
      heardMs: number
      /** The time at which the credentials expire. */
      readonly expiresMs: number
      /** The time at which a postponed read of the feed begins again. */
      readMs: number
    }
  | { readonly kind: 'closed' }

/** The client leaves and wants its will to be published. */
const WITH_WILL = 0x04
const CLOSED: Phase = { kind: 'closed' }
const LEAVING: Record<Leave, ReasonCode> = {
  shutdown: REASON.serverShuttingDown,
  'taken-over': REASON.sessionTakenOver,
  'not-authorized': REASON.notAuthorized,
  busy: REASON.quotaExceeded,
  unread: REASON.quotaExceeded,
}
/** Ends at which the client is not gone, or may not send any more. */
const WITHOUT_WILL: ReadonlySet<string> = new Set<Leave>(['taken-over', 'not-authorized'])
const BROKEN: Record<BrokenPacket, ReasonCode> = {
  malformed: REASON.malformedPacket,
  'too-large': REASON.packetTooLarge,
}

export class Session {
  #phase: Phase
  #level: ProtocolLevel = 4

  constructor(nowMs: number) {
    this.#phase = { kind: 'greeting', untilMs: nowMs + CONNECT_WITHIN_MS }
  }

  /** The protocol level in which the client hears; known from its CONNECT on. */
  get level(): ProtocolLevel {
    return this.#level
  }

  /** False while the next packet has to wait. */
  get isReady(): boolean {
    const phase = this.#phase
    return phase.kind === 'serving' ? !phase.publishes.isFull : phase.kind !== 'opening'
  }

  /** True when a subscription asks for single attrs. */
  get wantsAttrs(): boolean {
    return this.#phase.kind === 'serving' && this.#phase.subscriber.wantsAttrs
  }

  /** The time at which the session wants a tick; Infinity for none. */
  get tickAt(): number {
    const phase = this.#phase
    if (phase.kind === 'closed') return Infinity
    if (phase.kind !== 'serving') return phase.untilMs
    const readAt = phase.subscriber.isPostponed ? phase.readMs : Infinity
    return Math.min(phase.heardMs + phase.opening.silenceMs, phase.expiresMs, readAt)
  }

  handle(input: Input, nowMs: number): readonly Output[] {
    const outputs: Output[] = []
    if (this.#phase.kind === 'closed') return outputs // mqtt-session/2
    switch (input.kind) {
      case 'packet':
        this.#received(input.packet, nowMs, outputs)
        break
      case 'broken':
        this.#violated(BROKEN[input.reason], outputs)
        break
      case 'opened':
        this.#opened(input, nowMs, outputs)
        break
      case 'refused':
        this.#refuse(connectRefusalOf(input.fault), outputs, input.fault)
        break
      case 'settled':
        this.#settled(input.ticket, input.fault, outputs)
        break
      case 'released':
        if (this.#phase.kind === 'serving') {
          outputs.push({ kind: 'send', packet: this.#phase.publishes.release(input.messageId) })
        }
        break
      case 'feed':
        if (this.#phase.kind === 'serving') {
          outputs.push(...this.#phase.subscriber.news(input.news))
          this.#phase.readMs = nowMs + RETRY_READ_MS
        }
        break
      case 'retained':
        if (this.#phase.kind === 'serving') {
          outputs.push(...this.#phase.subscriber.retained(input.news))
        }
        break
      case 'tick':
        this.#tick(nowMs, outputs)
        break
      case 'leave':
        this.#end(LEAVING[input.reason], outputs, input.reason)
    }
    return outputs
  }

  #received(packet: Packet, nowMs: number, outputs: Output[]): void {
    const phase = this.#phase
    const violation = violationOf(packet, this.#level)
    if (violation !== undefined) return this.#violated(violation, outputs)
    if (phase.kind === 'greeting') {
      if (packet.cmd === 'connect') this.#connect(packet, nowMs, outputs)
      else this.#close(outputs, 'no CONNECT') // mqtt-session/1
      return
    }
    if (phase.kind !== 'serving') return this.#violated(REASON.protocolError, outputs)
    phase.heardMs = nowMs
    if (packet.cmd === 'publish') {
      const taken = phase.publishes.take(packet)
      if (taken.kind === 'violation') this.#violated(taken.reason, outputs)
      else if (taken.kind === 'answer') outputs.push({ kind: 'send', packet: taken.packet })
      else if (taken.kind === 'submit') outputs.push(taken)
    } else if (packet.cmd === 'pubrel') {
      const { messageId = 0 } = packet
      if (phase.isKept) outputs.push({ kind: 'release', messageId })
      else outputs.push({ kind: 'send', packet: phase.publishes.release(messageId) })
    } else if (packet.cmd === 'puback') {
      outputs.push(...phase.subscriber.acknowledged(packet.messageId ?? 0))
    } else if (packet.cmd === 'subscribe') {
      outputs.push(...phase.subscriber.subscribe(packet))
    } else if (packet.cmd === 'unsubscribe') {
      outputs.push(...phase.subscriber.unsubscribe(packet))
    } else if (packet.cmd === 'pingreq') {
      outputs.push({ kind: 'send', packet: { cmd: 'pingresp' } })
    } else if (packet.cmd === 'disconnect') {
      this.#farewell(packet, phase.opening, outputs)
    } else this.#violated(REASON.protocolError, outputs)
  }

  #farewell(
    { reasonCode, properties }: DisconnectPacket,
    { keptMs }: Opening,
    outputs: Output[],
  ): void {
    const seconds = properties?.sessionExpiryInterval
    // A session that was not to be kept cannot become one.
    if (keptMs === 0 && (seconds ?? 0) > 0) return this.#violated(REASON.protocolError, outputs)
    this.#phase = CLOSED
    outputs.push({
      kind: 'close',
      isClean: reasonCode !== WITH_WILL,
      reason: 'the client left',
      ...(seconds !== undefined && { keptMs: keptMsOf(seconds) }),
    })
  }

  #connect(packet: ConnectPacket, nowMs: number, outputs: Output[]): void {
    const opening = readConnect(packet)
    this.#level = packet.protocolVersion === 5 ? 5 : 4
    if ('returnCode' in opening) {
      outputs.push({ kind: 'send', packet: connackOf(this.#level, opening, opening.detail) })
      this.#close(outputs, 'CONNECT refused')
      return
    }
    this.#phase = { kind: 'opening', opening, untilMs: nowMs + OPEN_WITHIN_MS }
    outputs.push({ kind: 'open', opening })
  }

  #opened(
    { open, own, kept, madeId, keptMs, aliasMax, expiresInMs }: InputOf<'opened'>,
    nowMs: number,
    outputs: Output[],
  ): void {
    const phase = this.#phase
    if (phase.kind !== 'opening') return
    const { opening } = phase
    const { subscriptions, unreleased, isPresent = false } = kept ?? {}
    const subscriber = new Subscriber(opening.level, open, { bounds: opening, own, subscriptions })
    this.#phase = {
      kind: 'serving',
      opening,
      isKept: kept !== undefined,
      publishes: new Publishes({ ...opening, aliasMax }, unreleased),
      subscriber,
      heardMs: nowMs,
      expiresMs: nowMs + expiresInMs,
      readMs: nowMs,
    }
    const properties = {
      receiveMaximum: RECEIVE_MAX,
      maximumPacketSize: PACKET_BYTES_MAX,
      topicAliasMaximum: aliasMax,
      sharedSubscriptionAvailable: false,
      ...(madeId !== undefined && { assignedClientIdentifier: madeId }),
      ...(keptMs !== opening.keptMs && { sessionExpiryInterval: Math.floor(keptMs / 1_000) }),
    }
    const packet: ConnackPacket =
      this.#level === 5
        ? { cmd: 'connack', reasonCode: 0, sessionPresent: isPresent, properties }
        : { cmd: 'connack', returnCode: 0, sessionPresent: isPresent }
    outputs.push({ kind: 'send', packet }, ...subscriber.resume())
  }

  #refuse(refusal: ConnectRefusal, outputs: Output[], because: Fault): void {
    const phase = this.#phase
    if (phase.kind !== 'opening') return
    outputs.push({ kind: 'send', packet: connackOf(this.#level, refusal, lineOf(because)) })
    this.#close(outputs, because.code)
  }

  #settled(ticket: number, fault: Fault | undefined, outputs: Output[]): void {
    if (this.#phase.kind !== 'serving') return
    for (const packet of this.#phase.publishes.settle(ticket, fault)) {
      outputs.push({ kind: 'send', packet })
    }
  }

  #tick(nowMs: number, outputs: Output[]): void {
    const phase = this.#phase
    if (nowMs < this.tickAt) return
    if (phase.kind !== 'serving') this.#close(outputs, 'late')
    else if (nowMs >= phase.expiresMs) {
      this.#end(REASON.notAuthorized, outputs, 'key_expired') // mqtt-session/4
    } else if (nowMs >= phase.heardMs + phase.opening.silenceMs) {
      this.#end(REASON.keepAliveTimeout, outputs, 'silent') // mqtt-session/3
    } else outputs.push(...phase.subscriber.tick())
  }

  #violated(reason: ReasonCode, outputs: Output[]): void {
    this.#end(reason, outputs, `reason ${reason}`)
  }

  /** Says why, where the client's protocol has words for it, and closes. */
  #end(reasonCode: ReasonCode, outputs: Output[], reason: string): void {
    const phase = this.#phase
    if (phase.kind === 'serving' && this.#level === 5) {
      outputs.push({ kind: 'send', packet: { cmd: 'disconnect', reasonCode } })
    }
    this.#close(outputs, reason)
  }

  #close(outputs: Output[], reason: string): void {
    this.#phase = CLOSED
    outputs.push({ kind: 'close', isClean: WITHOUT_WILL.has(reason), reason }) // mqtt-door/3
  }
}

function connackOf(
  level: ProtocolLevel,
  { reasonCode, returnCode }: ConnectRefusal,
  reasonString?: string,
): ConnackPacket {
  const packet = { cmd: 'connack', sessionPresent: false } as const
  if (level !== 5) return { ...packet, returnCode }
  return {
    ...packet,
    reasonCode,
    ...(reasonString !== undefined && { properties: { reasonString } }),
  }
}
