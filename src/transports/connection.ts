// Joins one carrier with its session, and performs the outputs of the session.
//
//   carrier ─▶ session ─▶ outputs ─▶ carrier, store, acknowledgements
//                 ▲                          │
//                 └── bus, pages, positions ◀┘
//
// Invariants:
//   connection/1. A session listens to a channel, and the bus knows of it, before its position is
//     read. Later announcements correct the position, so no entry is lost between the two.
//   connection/2. A connection that is gone listens to no channel; its session is closed and takes
//     no input (session/2).
//   connection/3. A defect in one session ends that session and no other.
//   connection/4. A subscription that ends while its session begins is not served.

import { isFault } from '#domain/fault'
import type { Position } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { GoawayReason, Hello, UnsubscribedReason } from '#src/schemas/frames'
import type { BrokenRule, Carrier, SessionHandle } from './carrier.ts'
import type { ConnectionPorts } from './connection-ports.ts'
import { frameOf } from './channel-listeners.ts'
import { Listening } from './listening.ts'
import { Outbox } from './outbox.ts'
import type { Writer } from './outbox.ts'
import type { Rank } from './rank.ts'
import { reportDefect } from '#domain/defect'
import { Session } from './session.ts'
import { CLOSE, RETRY_AFTER_MS } from './signals.ts'
import type { Effect, EffectOf, Input, Output } from './signals.ts'

/** Ports that all connections of a process share. */
export type Shared = ConnectionPorts<Connection>

export class Connection implements SessionHandle, Writer<string> {
  readonly carrier: Carrier
  readonly session: Session
  readonly rank: Rank
  tickSlice: number | undefined
  tickBefore: Connection | undefined
  tickAfter: Connection | undefined
  readonly #shared: Shared
  readonly #listening: Listening<Connection>
  readonly #outbox: Outbox<string>
  #deviceId: DeviceId | undefined
  /** Grows with each change of a subscription: a reading from before the change is not used. */
  #version = 0
  #isGone = false

  constructor(carrier: Carrier, rank: Rank, shared: Shared) {
    this.carrier = carrier
    this.rank = rank
    // The time in which the carrier began counts towards the hello.
    const sinceMs = shared.monotonicMs() - carrier.openingMs
    this.session = new Session(sinceMs, shared.random(1_000) / 1_000)
    this.#shared = shared
    this.#listening = new Listening<Connection>(shared.listeners, this)
    this.#outbox = new Outbox<string>(this, shared.soon)
    shared.ticks.atLatest(this, this.session.tickAt(sinceMs))
  }

  get deviceId(): DeviceId | undefined {
    return this.#deviceId
  }

  receive(text: string): void {
    this.feed({ kind: 'received', text })
  }

  broken(rule: BrokenRule): void {
    this.feed({ kind: 'broken', rule })
  }

  feed(input: Input): void {
    try {
      const nowMs = this.#shared.monotonicMs()
      const outputs = this.session.handle(input, nowMs)
      this.#shared.ticks.atLatest(this, this.session.tickAt(nowMs))
      if (outputs.length > 0) this.#perform(outputs)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Tells the device to leave, and a random time after which it may come back. */
  leave(reason: GoawayReason): void {
    const { least, most } = RETRY_AFTER_MS
    const retryAfterMs = least + this.#shared.random(most - least + 1)
    this.feed({ kind: 'leave', reason, ...(reason !== 'replaced' && { retryAfterMs }) })
  }

  closed(): void {
    if (this.#isGone) return
    this.session.handle({ kind: 'gone' }, this.#shared.monotonicMs())
    this.#isGone = true
    this.#listening.leaveAll() // connection/2
    this.#shared.held.changed(this, 0)
    this.#shared.left(this)
  }

  end(code: number, reason: string): void {
    this.#outbox.flush()
    if (!this.#isGone) this.#shared.ended(this.carrier.kind, reason)
    if (this.#shared.held.isTooMuchToKeep(this)) return this.cut()
    this.closed()
    this.carrier.close(code, reason)
  }

  /** Ends the connection at once; the texts that its carrier holds are lost. */
  cut(): void {
    this.closed()
    this.carrier.cut()
  }

  drained(bytes: number): void {
    if (this.#isGone) return
    this.#shared.held.changed(this, bytes) // held/1
    this.feed({ kind: 'buffered', bytes })
  }

  /** Reads a subscription that may be new. */
  subscribed(channelId: ChannelId): void {
    this.#version += 1
    this.#read(() => this.#subscribe(channelId))
  }

  unsubscribed(channelId: ChannelId, reason: UnsubscribedReason): void {
    this.#version += 1
    this.#leaveChannel(channelId, reason)
  }

  /** Compares the channels with the store, since announcements may have been lost. */
  recheck(): void {
    if (!this.#isGone) this.#read(() => this.#check())
  }

  #perform(outputs: readonly Output[]): void {
    const effects: Effect[] = []
    let ending: Extract<Output, { readonly kind: 'close' }> | undefined
    for (const output of outputs) {
      if (output.kind === 'send') this.#outbox.add(output.text)
      else if (output.kind === 'close') ending = output
      else if (output.kind === 'deliver') {
        this.#outbox.add(output.frame.text)
        this.#shared.delivered[output.frame.mode]()
      } else effects.push(output)
    }
    for (const effect of effects) this.#start(effect)
    if (ending === undefined) this.#outbox.flushSoon()
    else this.end(ending.code, ending.reason)
  }

  /** Hands texts to the carrier. */
  write(texts: readonly string[]): void {
    if (this.#isGone) return
    try {
      const held = this.carrier.send(texts)
      if (held === 'closed') this.closed()
      else if (held !== this.#shared.held.by(this)) this.drained(held)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Ends a session with a defect. (connection/3) */
  #failed(error: unknown): void {
    this.#shared.logger.error('a session failed', { ...reportDefect(error) })
    this.end(CLOSE.failed, 'internal error')
  }

  #start(effect: Effect): void {
    switch (effect.kind) {
      case 'admit':
        this.#admit(effect.hello)
        break
      case 'read-pages': {
        const { ticket, requests } = effect
        const pages = this.#shared.listeners.recentPages(requests)
        if (pages.length > 0) this.feed({ kind: 'pages', ticket, pages })
        else if (!this.#read(() => this.#readPages(effect)))
          this.feed({ kind: 'postponed', ticket })
        break
      }
      case 'read-positions':
        // When too many reads wait, the next check tries again.
        this.#read(() => this.#check())
        break
      case 'acknowledge': {
        const { channelId, seq } = effect
        const deviceId = this.#deviceId
        if (deviceId !== undefined)
          this.#shared.acknowledgements.record({ deviceId, channelId, seq })
      }
    }
  }

  /**
   * Queues a read; the session ends when the store rejects it. False when too many reads wait.
   */
  #read(job: () => Promise<void>): boolean {
    const read = this.#shared.reads.run(async () => {
      if (this.#isGone) return
      try {
        await job()
      } catch (error) {
        this.#shared.logger.warn('the store did not answer a session', { ...reportDefect(error) })
        this.leave('unavailable')
      }
    })
    return read !== undefined
  }

  #admit(hello: Hello): void {
    const deviceId = this.#shared.admission(hello, this.carrier)
    if (isFault(deviceId)) {
      this.feed({ kind: 'refused', code: deviceId.code })
      return
    }
    if (!this.#read(() => this.#enter(deviceId))) this.leave('busy')
  }

  async #enter(deviceId: DeviceId): Promise<void> {
    const { devices, subscriptions } = this.#shared
    this.#deviceId = deviceId
    this.#shared.identified(this) // First, so that it gets greater numbers too.
    const number = await devices.numberSession(deviceId)
    if (this.#isGone) return
    if (number === undefined) return this.feed({ kind: 'refused', code: 'device_key_not_found' })
    this.rank.setNumber(number)
    let positions = await subscriptions.positions(deviceId)
    this.#join(positions)
    // connection/1: the first reading gives the channels to listen to, the second one comes while
    // the session listens.
    await this.#shared.listeners.settled()
    const joined = this.#listening.channelIds
    if (positions.length > 0) positions = await subscriptions.positions(deviceId)
    if (this.#isGone) return
    const left = new Set(joined.filter((channelId) => !this.#listening.has(channelId)))
    positions = positions
      .filter(({ channelId }) => !left.has(channelId)) // connection/4
      .map((position) => this.#shared.acknowledgements.corrected(deviceId, position))
    this.#shared.begun(this)
    this.#join(positions)
    this.feed({
      kind: 'admitted',
      sessionId: this.#shared.newSessionId(),
      serverTime: this.#shared.nowMs(),
      positions: positions.map((position) => this.#listening.corrected(position)),
    })
  }

  async #readPages({ ticket, requests, bytes }: EffectOf<'read-pages'>): Promise<void> {
    const read = await this.#shared.feed.catchUp(requests, bytes)
    if (this.#isGone) return
    const pages = read.map(({ entries, ...rest }) => ({
      ...rest,
      frames: entries.map((entry) => frameOf(entry, 'replay')),
    }))
    this.feed({ kind: 'pages', ticket, pages })
  }

  async #subscribe(channelId: ChannelId): Promise<void> {
    if (this.#deviceId === undefined) return
    const joined = this.#listening.join(channelId) // connection/1
    await this.#shared.listeners.settled()
    const position = await this.#shared.subscriptions.position(this.#deviceId, channelId)
    // Meanwhile changes of other channels do not make this position wrong.
    if (this.#isGone || !this.#listening.isSince(channelId, joined)) return
    if (position === undefined) this.#leaveChannel(channelId, 'unsubscribed')
    else this.feed({ kind: 'subscribed', position: this.#listening.corrected(position) })
  }

  /** Compares the channels of the session with those of the store. */
  async #check(): Promise<void> {
    if (this.#deviceId === undefined) return
    const version = this.#version
    const positions = await this.#shared.subscriptions.positions(this.#deviceId)
    if (this.#isGone || version !== this.#version) return
    const current = new Map(positions.map((position) => [position.channelId, position]))
    for (const channelId of this.#listening.channelIds) {
      if (!current.has(channelId)) this.#leaveChannel(channelId, 'unsubscribed')
    }
    for (const channelId of current.keys()) {
      if (!this.#listening.has(channelId)) this.#read(() => this.#subscribe(channelId))
    }
    const known = positions.filter(({ channelId }) => this.#listening.has(channelId))
    const corrected = known.map((position) => this.#listening.corrected(position))
    this.feed({ kind: 'positions', positions: corrected })
  }

  #join(positions: readonly Position[]): void {
    if (this.#isGone) return // connection/2
    for (const { channelId } of positions) this.#listening.join(channelId)
  }

  #leaveChannel(channelId: ChannelId, reason: UnsubscribedReason): void {
    if (this.#listening.leave(channelId)) this.feed({ kind: 'unsubscribed', channelId, reason })
  }
}
