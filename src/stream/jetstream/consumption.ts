// Reads a stream onwards from a position with an ephemeral consumer; replaces a lost consumer at
// the right position.
//
//   closed ─▶ opening ─▶ open ──▶ (gap, silence, consumer gone, connection back) ──▶ opening
//
// Invariants:
//   consumption/1. Hands on entries in stream order without a gap: the consumer's own count must go
//     up by one, and a new consumer begins behind the last entry handed on.
//   consumption/2. Asks for no more than there is room for: entries that nobody reads stay at the
//     server.
//   consumption/3. Notices silence: during a request the server sends a heartbeat every
//     HEARTBEAT_MS; after SILENCE_MS without any message it makes a new consumer.
//   consumption/4. Notices a consumer that sends heartbeats but not the entries: one on a server
//     that was late may never look at an entry that the stream holds (seen with server 2.9). After
//     QUIET_MS without an entry it compares, and after LATE_MS more it makes a new consumer.

import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import type { ConsumerConfig, JetStreamManager } from '@nats-io/jetstream'
import { createInbox, nanos } from '@nats-io/transport-node'
import type { Msg, Subscription } from '@nats-io/transport-node'
import type { LogPosition } from '#domain/lane'
import type { Logger } from '#domain/telemetry'

import { reasonOf } from './connection.ts'
import type { Line } from './connection.ts'
import { readDelivery } from './delivery.ts'
import type { Delivery } from './delivery.ts'
import type { Timers } from '#domain/ports'
import type { MonotonicMs } from './timers.ts'

export interface ConsumptionPorts {
  readonly connection: Line
  readonly manager: { readonly consumers: Pick<JetStreamManager['consumers'], 'add'> }
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
}

/** The reader of a consumption, and where it begins. */
export interface Reader {
  readonly stream: string
  readonly subject: string
  /** Gives the position at which the next consumer begins. Called before each new consumer. */
  begin(): { readonly kind: 'behind'; readonly position: LogPosition } | { readonly kind: 'newest' }
  /** Bytes to ask for now; at 0 or less none are asked for. */
  room(): number
  take(delivery: Delivery, message: Msg): void
  /** Says that a consumer is open and will deliver `pending` entries. */
  opened(pending: number): void
  /** True when the stream holds an entry behind the last one taken. May reject. */
  lacksEntry(): Promise<boolean>
}

const PULL_MESSAGES = 256
const PULL_EXPIRES_MS = 20_000
const HEARTBEAT_MS = 500
const SILENCE_MS = 1500
const LOOK_MS = 500
const QUIET_MS = 1000
const LATE_MS = 500
const INACTIVE_MS = 60_000
const AGAIN_MS = [0, 50, 100, 250, 500, 1000]
const PULL_AGAIN_MS = 100

type Phase =
  | { readonly kind: 'closed' }
  | { readonly kind: 'opening' }
  | {
      readonly kind: 'open'
      readonly consumer: string
      readonly inbox: string
      readonly subscription: Subscription
      delivered: number
      outstanding: number
      heardMs: number
      /** The time of the last entry, or of the last comparison with the stream. */
      comparedMs: number
      /** The time since when an entry is known to be late; undefined while none is. */
      lateSinceMs: number | undefined
    }

type Open = Extract<Phase, { kind: 'open' }>

export class Consumption {
  readonly #ports: ConsumptionPorts
  readonly #reader: Reader
  readonly #stops: (() => void)[] = []
  #phase: Phase = { kind: 'closed' }
  #failures = 0
  #cancelLook: () => void = () => {}
  #cancelAgain: () => void = () => {}

  constructor(ports: ConsumptionPorts, reader: Reader) {
    this.#ports = ports
    this.#reader = reader
  }

  get isOpen(): boolean {
    return this.#phase.kind === 'open'
  }

  start(): void {
    this.#stops.push(this.#ports.connection.onReturn(() => this.again('the connection is back')))
    this.#cancelLook = this.#ports.timers.after(LOOK_MS, this.#look)
    void this.#open()
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop()
    this.#cancelLook()
    this.#letGo()
    this.#phase = { kind: 'closed' }
  }

  /** Called when there is room again: asks for more unless a request is open. (consumption/2) */
  more(): void {
    const phase = this.#phase
    if (phase.kind !== 'open' || phase.outstanding > 0) return
    const room = this.#reader.room()
    const { connection, monotonicMs } = this.#ports
    if (room <= 0 || !connection.isConnected) return
    phase.outstanding = PULL_MESSAGES
    phase.heardMs = monotonicMs()
    const request = {
      batch: PULL_MESSAGES,
      max_bytes: room,
      expires: nanos(PULL_EXPIRES_MS),
      idle_heartbeat: nanos(HEARTBEAT_MS),
    }
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#reader.stream}.${phase.consumer}`
    connection.nats.publish(subject, JSON.stringify(request), { reply: phase.inbox })
  }

  /** Drops the consumer and makes a new one behind the last entry handed on. (consumption/1) */
  again(reason: string): void {
    if (this.#phase.kind === 'closed') return
    const { timers, logger } = this.#ports
    this.#letGo()
    const opening: Phase = { kind: 'opening' }
    this.#phase = opening
    const delayMs = AGAIN_MS[Math.min(this.#failures, AGAIN_MS.length - 1)] ?? 0
    this.#failures += 1
    const { subject } = this.#reader
    logger.debug('a consumer is made anew', { subject, reason, delayMs })
    this.#cancelAgain = timers.after(delayMs, () => void this.#open())
  }

  async #open(): Promise<void> {
    const { connection, manager, monotonicMs } = this.#ports
    const opening: Phase = { kind: 'opening' }
    this.#phase = opening
    // While the connection is away nothing is sent; its return calls `again`.
    if (!connection.isConnected) return
    try {
      const info = await manager.consumers.add(this.#reader.stream, this.#config())
      if (this.#phase !== opening) return // The server forgets a consumer that nobody asks.
      const inbox = createInbox()
      const phase: Open = {
        kind: 'open',
        consumer: info.name,
        inbox,
        delivered: 0,
        outstanding: 0,
        heardMs: monotonicMs(),
        comparedMs: monotonicMs(),
        lateSinceMs: undefined,
        subscription: connection.nats.subscribe(inbox, {
          callback: (error, message) => {
            if (error === null && this.#phase === phase) this.#onMessage(phase, message)
          },
        }),
      }
      this.#phase = phase
      this.#reader.opened(info.num_pending)
      this.more()
    } catch (error) {
      if (this.#phase !== opening) return
      const fields = { subject: this.#reader.subject, error: reasonOf(error) }
      if (this.#failures === 1) this.#ports.logger.warn('a consumer could not be made', fields)
      this.again(reasonOf(error))
    }
  }

  #config(): Partial<ConsumerConfig> {
    const begin = this.#reader.begin()
    return {
      name: createInbox('heliograph').replaceAll('.', '-'),
      ack_policy: AckPolicy.None,
      filter_subject: this.#reader.subject,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(INACTIVE_MS),
      ...(begin.kind === 'behind'
        ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: begin.position + 1 }
        : { deliver_policy: DeliverPolicy.LastPerSubject }),
    }
  }

  #onMessage(phase: Open, message: Msg): void {
    phase.heardMs = this.#ports.monotonicMs()
    if (message.subject === phase.inbox) return this.#onStatus(phase, message)
    const delivery = readDelivery(message.reply ?? '')
    if (delivery === undefined || delivery.count !== phase.delivered + 1) {
      return this.again('an entry is missing') // consumption/1
    }
    this.#failures = 0
    phase.delivered += 1
    phase.comparedMs = phase.heardMs
    phase.lateSinceMs = undefined
    phase.outstanding = Math.max(0, phase.outstanding - 1)
    this.#reader.take(delivery, message)
    if (phase.outstanding === 0) this.more()
  }

  #onStatus(phase: Open, message: Msg): void {
    const code = message.headers?.code ?? 0
    const reason = message.headers?.description ?? ''
    if (code === 100) {
      this.#failures = 0
      return
    }
    if (code === 503 || /consumer|leadership|shutdown/i.test(reason)) {
      return this.again(reason || `status ${code}`)
    }
    // The request ended: its time is over, or the next entry is larger than the room that was left.
    const wasFruitful = phase.outstanding < PULL_MESSAGES
    phase.outstanding = 0
    if (code === 408 || code === 404 || wasFruitful) return this.more()
    this.#cancelAgain = this.#ports.timers.after(PULL_AGAIN_MS, () => this.more())
  }

  /** consumption/3 */
  readonly #look = (): void => {
    const { timers, monotonicMs, connection } = this.#ports
    this.#cancelLook = timers.after(LOOK_MS, this.#look)
    const phase = this.#phase
    if (phase.kind !== 'open' || !connection.isConnected) return
    if (phase.outstanding === 0) return this.more()
    const now = monotonicMs()
    if (now - phase.heardMs > SILENCE_MS) return this.again('the server is silent')
    if (phase.lateSinceMs !== undefined) {
      if (now - phase.lateSinceMs > LATE_MS) this.again('an entry does not arrive')
    } else if (now - phase.comparedMs > QUIET_MS) void this.#compare(phase, now)
  }

  /** consumption/4 */
  async #compare(phase: Open, now: number): Promise<void> {
    phase.comparedMs = now
    const lacksEntry = await this.#reader.lacksEntry().catch(() => false)
    if (lacksEntry && phase.comparedMs === now) phase.lateSinceMs = now
  }

  #letGo(): void {
    this.#cancelAgain()
    if (this.#phase.kind !== 'open') return
    const { subscription, consumer } = this.#phase
    subscription.unsubscribe()
    const { nats, isConnected } = this.#ports.connection
    if (isConnected) nats.publish(`$JS.API.CONSUMER.DELETE.${this.#reader.stream}.${consumer}`)
  }
}
