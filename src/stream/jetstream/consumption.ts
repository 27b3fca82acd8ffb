// Reads a stream from a position on with an ephemeral consumer; replaces a lost consumer at the
// right position.
//
//   closed ─▶ opening ─▶ open ──▶ (gap, silence, lost consumer, reconnection) ──▶ opening
//
// Invariants:
//   consumption/1. The receiver gets entries in stream order without a gap: the consumer's own
//     count must grow by one, and a new consumer begins behind the last entry received.
//   consumption/2. A request asks for no more bytes than the receiver has room for: unread entries
//     stay at the server.
//   consumption/3. During a request the server sends a heartbeat every HEARTBEAT_MS. After
//     SILENCE_MS without any message a new consumer replaces the present one.
//   consumption/4. A consumer may send heartbeats but no entries: on a server that lagged behind,
//     it may never notice an entry that the stream holds (seen with server 2.9). After QUIET_MS
//     without an entry the receiver compares with the stream, and after LATE_MS more a new consumer
//     replaces the present one.

import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import type { ConsumerConfig, JetStreamManager } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import type { Msg, Subscription } from '@nats-io/transport-node'
import type { LogPosition } from '#domain/lane'
import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'

import { reasonOf } from './connection.ts'
import type { NatsLink } from './connection.ts'
import { readDelivery } from './delivery.ts'
import type { Delivery } from './delivery.ts'
import type { Timers } from '#domain/ports'
import type { MonotonicMs } from './timers.ts'

export interface ConsumptionPorts {
  readonly connection: NatsLink
  readonly manager: { readonly consumers: Pick<JetStreamManager['consumers'], 'add'> }
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
  readonly entropy: Runtime['entropy']
}

/** Receives the entries of a consumption, and decides where it begins and how much it fetches. */
export interface EntryReceiver {
  readonly stream: string
  readonly subject: string
  /** Returns the position behind which the next consumer starts. Called before each new one. */
  begin(): LogPosition
  /** Returns the bytes to request now; at 0 or less the consumption sends no request. */
  room(): number
  receive(delivery: Delivery, message: Msg): void
  /** Called when a new consumer is open, with the number of entries that it will deliver. */
  opened(pending: number): void
  /** True when the stream holds an entry behind the last one received. May reject. */
  lacksEntry(): Promise<boolean>
}

const PULL_MESSAGES = 256
const PULL_EXPIRES_MS = 20_000
const HEARTBEAT_MS = 500
const SILENCE_MS = 1500
const CHECK_MS = 500
const QUIET_MS = 1000
const LATE_MS = 500
const INACTIVE_MS = 60_000
/** Delays before the next consumer, by the number of failures so far. */
const REOPEN_DELAYS_MS = [0, 50, 100, 250, 500, 1000]
const REQUEST_PAUSE_MS = 100
/** Random bytes in the name of a consumer. */
const NAME_BYTES = 12

type Phase =
  | { readonly kind: 'closed' }
  | { readonly kind: 'opening' }
  | {
      readonly kind: 'open'
      readonly consumer: string
      readonly inbox: string
      readonly subscription: Subscription
      /** Entries that this consumer has delivered. */
      delivered: number
      /** Entries that the open request may still deliver; 0 without an open request. */
      outstanding: number
      lastMessageMs: number
      /** The time of the last entry, or of the last comparison with the stream. */
      comparedMs: number
      /** The time of the comparison that found an undelivered entry; undefined without one. */
      lateSinceMs: number | undefined
    }

type Open = Extract<Phase, { kind: 'open' }>

export class Consumption {
  readonly #ports: ConsumptionPorts
  readonly #receiver: EntryReceiver
  readonly #stops: (() => void)[] = []
  #phase: Phase = { kind: 'closed' }
  #failures = 0
  #cancelCheck: () => void = () => {}
  #cancelRetry: () => void = () => {}

  constructor(ports: ConsumptionPorts, receiver: EntryReceiver) {
    this.#ports = ports
    this.#receiver = receiver
  }

  get isOpen(): boolean {
    return this.#phase.kind === 'open'
  }

  start(): void {
    this.#stops.push(this.#ports.connection.onReconnect(() => this.reopen('reconnected to NATS')))
    this.#cancelCheck = this.#ports.timers.after(CHECK_MS, this.#check)
    void this.#open()
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop()
    this.#cancelCheck()
    this.#dropConsumer()
    this.#phase = { kind: 'closed' }
  }

  /** Requests entries, unless a request is open or there is no room. (consumption/2) */
  request(): void {
    const phase = this.#phase
    if (phase.kind !== 'open' || phase.outstanding > 0) return
    const room = this.#receiver.room()
    const { connection, monotonicMs } = this.#ports
    if (room <= 0 || !connection.isConnected) return
    phase.outstanding = PULL_MESSAGES
    phase.lastMessageMs = monotonicMs()
    const request = {
      batch: PULL_MESSAGES,
      max_bytes: room,
      expires: nanos(PULL_EXPIRES_MS),
      idle_heartbeat: nanos(HEARTBEAT_MS),
    }
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#receiver.stream}.${phase.consumer}`
    connection.nats.publish(subject, JSON.stringify(request), { reply: phase.inbox })
  }

  /** Drops the consumer and creates a new one behind the last entry received. (consumption/1) */
  reopen(reason: string): void {
    if (this.#phase.kind === 'closed') return
    const { timers, logger } = this.#ports
    this.#dropConsumer()
    const opening: Phase = { kind: 'opening' }
    this.#phase = opening
    const delayMs = REOPEN_DELAYS_MS[Math.min(this.#failures, REOPEN_DELAYS_MS.length - 1)] ?? 0
    this.#failures += 1
    const { subject } = this.#receiver
    logger.debug('recreating a consumer', { subject, reason, delayMs })
    this.#cancelRetry = timers.after(delayMs, () => void this.#open())
  }

  async #open(): Promise<void> {
    const { connection, manager, monotonicMs } = this.#ports
    const opening: Phase = { kind: 'opening' }
    this.#phase = opening
    // Nothing can be sent without a connection; the reconnection calls `reopen`.
    if (!connection.isConnected) return
    try {
      const info = await manager.consumers.add(this.#receiver.stream, this.#config())
      if (this.#phase !== opening) return // The server deletes a consumer without requests.
      const inbox = `_INBOX.${this.#newName()}`
      const phase: Open = {
        kind: 'open',
        consumer: info.name,
        inbox,
        delivered: 0,
        outstanding: 0,
        lastMessageMs: monotonicMs(),
        comparedMs: monotonicMs(),
        lateSinceMs: undefined,
        subscription: connection.nats.subscribe(inbox, {
          callback: (error, message) => {
            if (error === null && this.#phase === phase) this.#onMessage(phase, message)
          },
        }),
      }
      this.#phase = phase
      this.#receiver.opened(info.num_pending)
      this.request()
    } catch (error) {
      if (this.#phase !== opening) return
      const fields = { subject: this.#receiver.subject, error: reasonOf(error) }
      if (this.#failures === 1) this.#ports.logger.warn('could not create a consumer', fields)
      this.reopen(reasonOf(error))
    }
  }

  #config(): Partial<ConsumerConfig> {
    return {
      name: `heliograph-${this.#newName()}`,
      ack_policy: AckPolicy.None,
      filter_subject: this.#receiver.subject,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(INACTIVE_MS),
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#receiver.begin() + 1,
    }
  }

  #newName(): string {
    return this.#ports.entropy(NAME_BYTES).toString('hex')
  }

  #onMessage(phase: Open, message: Msg): void {
    phase.lastMessageMs = this.#ports.monotonicMs()
    if (message.subject === phase.inbox) return this.#onStatus(phase, message)
    const delivery = readDelivery(message.reply ?? '')
    if (delivery === undefined || delivery.count !== phase.delivered + 1) {
      return this.reopen('an entry is missing') // consumption/1
    }
    this.#failures = 0
    phase.delivered += 1
    phase.comparedMs = phase.lastMessageMs
    phase.lateSinceMs = undefined
    phase.outstanding = Math.max(0, phase.outstanding - 1)
    this.#receiver.receive(delivery, message)
    if (phase.outstanding === 0) this.request()
  }

  #onStatus(phase: Open, message: Msg): void {
    const code = message.headers?.code ?? 0
    const reason = message.headers?.description ?? ''
    if (code === 100) {
      this.#failures = 0
      return
    }
    if (code === 503 || /consumer|leadership|shutdown/i.test(reason)) {
      return this.reopen(reason || `status ${code}`)
    }
    // The request ended: it expired, or the next entry is larger than the remaining room.
    const hasDelivered = phase.outstanding < PULL_MESSAGES
    phase.outstanding = 0
    if (code === 408 || code === 404 || hasDelivered) return this.request()
    this.#cancelRetry = this.#ports.timers.after(REQUEST_PAUSE_MS, () => this.request())
  }

  /** consumption/3 */
  readonly #check = (): void => {
    const { timers, monotonicMs, connection } = this.#ports
    this.#cancelCheck = timers.after(CHECK_MS, this.#check)
    const phase = this.#phase
    if (phase.kind !== 'open' || !connection.isConnected) return
    if (phase.outstanding === 0) return this.request()
    const now = monotonicMs()
    if (now - phase.lastMessageMs > SILENCE_MS) return this.reopen('the server is silent')
    if (phase.lateSinceMs !== undefined) {
      if (now - phase.lateSinceMs > LATE_MS) this.reopen('an entry does not arrive')
    } else if (now - phase.comparedMs > QUIET_MS) void this.#compare(phase, now)
  }

  /** consumption/4 */
  async #compare(phase: Open, now: number): Promise<void> {
    phase.comparedMs = now
    const lacksEntry = await this.#receiver.lacksEntry().catch(() => false)
    if (lacksEntry && phase.comparedMs === now) phase.lateSinceMs = now
  }

  #dropConsumer(): void {
    this.#cancelRetry()
    if (this.#phase.kind !== 'open') return
    const { subscription, consumer } = this.#phase
    subscription.unsubscribe()
    const { nats, isConnected } = this.#ports.connection
    if (isConnected) nats.publish(`$JS.API.CONSUMER.DELETE.${this.#receiver.stream}.${consumer}`)
  }
}
