// Appending: one message a batch, acknowledged through one inbox of this process.
//
// Invariants:
//   W1. `appended` is said only when the stream acknowledged this very batch.
//   J1. An append that is sent again carries the same message id, within the stream's duplicate
//       window: it is in the log once. One that was refused may still be in the log: a 503 means
//       unknown.
//   J2. Bytes that wait are bounded, and each append answers within `timeoutMs`: while NATS is away
//       nothing heaps up.
//   J3. A position that was given out is never given out again: an acknowledgement at or before
//       what was known when the append began means that the stream lost entries. (W5)
//   J4. What is larger than the server takes, now that it may be another server, is refused: the
//       client would throw.

import { headers } from '@nats-io/transport-node'
import type { Msg, MsgHdrs, Subscription } from '@nats-io/transport-node'
import type { Appended, Batch, LogPosition } from '#domain/lane'
import type { LogWriter, Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Log, Meter } from '#domain/telemetry'

import { readAcknowledgement } from './acknowledgement.ts'
import type { Connection } from './connection.ts'
import type { LaneStream } from './lane-stream.ts'
import type { MonotonicMs } from './timers.ts'

export interface WriterPorts {
  readonly connection: Connection
  readonly stream: LaneStream
  readonly meter: Meter
  readonly logger: Log
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
  readonly entropy: Runtime['entropy']
}

export interface WriterOptions {
  /** Bytes of appends without an answer, at most. */
  readonly pendingBytesMax: number
  /** How long an append may take before it is refused. */
  readonly timeoutMs: number
}

const ID_HEADER = 'Nats-Msg-Id'
const RETRY_AFTER_MS = 1000
const SEND_AGAIN_MS = 500
const SWEEP_MS = 100
/** More than the headers of an append take. */
const HEADERS_BYTES = 256
/** Nothing that is waited for is longer in coming than this, in parts of the duplicate window. */
const TIMEOUT_MS_MAX = 2000

interface Pending {
  readonly token: string
  readonly subject: string
  readonly payload: Uint8Array
  readonly headers: MsgHdrs
  readonly deadlineMs: number
  /** The greatest position that was known when it began. (J3) */
  readonly after: LogPosition
  readonly answer: (outcome: Appended) => void
  sendAgainMs: number
}

const encoder = new TextEncoder()

export class JetStreamWriter implements LogWriter {
  readonly #ports: WriterPorts
  readonly #options: WriterOptions
  readonly #pending = new Map<string, Pending>()
  readonly #inbox: string
  readonly #subscription: Subscription
  readonly #stopListening: () => void
  readonly #process: string
  readonly #retried: (by?: number) => void
  #pendingBytes = 0
  #appends = 0
  #cancelSweep: (() => void) | undefined

  constructor(ports: WriterPorts, options: WriterOptions) {
    const { connection, meter, entropy } = ports
    this.#ports = ports
    this.#process = entropy(9).toString('base64url')
    this.#options = { ...options, timeoutMs: Math.min(options.timeoutMs, TIMEOUT_MS_MAX) }
    this.#inbox = `_INBOX.${entropy(12).toString('hex')}`
    this.#subscription = connection.nats.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#onAnswer(message)
      },
    })
    this.#stopListening = connection.onReturn(() => this.#sendAll())
    this.#retried = meter.counter('stream_appends_retried_total', {})
    meter.gauge('stream_pending_bytes', {}, () => this.#pendingBytes)
  }

  append({ lane, payload }: Batch): Promise<Appended> {
    const { connection, stream, monotonicMs } = this.#ports
    const { pendingBytesMax, timeoutMs } = this.#options
    const bytes = encoder.encode(payload)
    const isLongAway = connection.awayMs() > timeoutMs
    const isOverBound = this.#pendingBytes + bytes.length > pendingBytesMax
    if (stream.mismatch !== undefined || isLongAway || isOverBound || !this.#fits(bytes)) {
      return Promise.resolve(UNAVAILABLE) // J2, J4
    }
    this.#appends += 1
    const token = this.#appends.toString(36)
    const head = headers()
    head.set(ID_HEADER, `${this.#process}-${token}`) // J1
    this.#pendingBytes += bytes.length
    return new Promise((answer) => {
      const pending = {
        token,
        subject: stream.subjectOf(lane),
        payload: bytes,
        headers: head,
        answer,
        deadlineMs: monotonicMs() + timeoutMs,
        after: stream.highest,
        sendAgainMs: 0,
      }
      this.#pending.set(token, pending)
      this.#send(pending)
      this.#cancelSweep ??= this.#ports.timers.after(SWEEP_MS, this.#sweep)
    })
  }

  /** Refuses what waits and lets go of the inbox. */
  close(): void {
    this.#stopListening()
    this.#cancelSweep?.()
    this.#subscription.unsubscribe()
    for (const pending of this.#pending.values()) this.#settle(pending, UNAVAILABLE)
  }

  #send(pending: Pending): void {
    const { connection, monotonicMs } = this.#ports
    if (!connection.isConnected || !this.#fits(pending.payload)) return // J4
    pending.sendAgainMs = monotonicMs() + SEND_AGAIN_MS
    const { subject, payload, headers: head, token } = pending
    connection.nats.publish(subject, payload, { headers: head, reply: `${this.#inbox}.${token}` })
  }

  #fits(payload: Uint8Array): boolean {
    const { connection, logger } = this.#ports
    const { max_payload: bytesMax = Infinity } = connection.nats.info ?? {}
    const bytes = payload.length + HEADERS_BYTES
    if (bytes <= bytesMax) return true
    logger.error('an append is larger than max_payload of the NATS server', { bytes, bytesMax })
    return false
  }

  /** In the order in which they were given. */
  #sendAll(): void {
    for (const pending of this.#pending.values()) this.#sendAgain(pending)
  }

  #sendAgain(pending: Pending): void {
    this.#retried()
    this.#send(pending)
  }

  readonly #sweep = (): void => {
    this.#cancelSweep = undefined
    const now = this.#ports.monotonicMs()
    for (const pending of this.#pending.values()) {
      if (now >= pending.deadlineMs) this.#settle(pending, UNAVAILABLE)
      else if (now >= pending.sendAgainMs) this.#sendAgain(pending)
    }
    if (this.#pending.size > 0) this.#cancelSweep = this.#ports.timers.after(SWEEP_MS, this.#sweep)
  }

  #onAnswer(message: Msg): void {
    const pending = this.#pending.get(message.subject.slice(this.#inbox.length + 1))
    if (pending === undefined) return
    const acknowledgement = readAcknowledgement(message, this.#ports.stream.name)
    switch (acknowledgement.kind) {
      case 'stored':
        this.#settle(pending, this.#appended(pending, acknowledgement.position))
        return
      case 'full':
        this.#settle(pending, FULL)
        return
      case 'not-now':
        // No leader at this moment, or a passing fault: the sweep sends it again until the
        // deadline.
        this.#ports.logger.debug('an append was not taken', { reason: acknowledgement.reason })
        return
    }
  }

  #appended(pending: Pending, position: LogPosition): Appended {
    const { stream } = this.#ports
    if (position <= pending.after) {
      // J3
      stream.refuse(
        `the stream ${stream.name} gave position ${position} but held ${pending.after}: ` +
          'entries were lost',
      )
      return UNAVAILABLE
    }
    stream.saw(position)
    return { kind: 'appended', position } // W1
  }

  #settle(pending: Pending, outcome: Appended): void {
    this.#pending.delete(pending.token)
    this.#pendingBytes -= pending.payload.length
    pending.answer(outcome)
  }
}

const UNAVAILABLE: Appended = Object.freeze({
  kind: 'refused',
  reason: 'unavailable',
  retryAfterMs: RETRY_AFTER_MS,
})
const FULL: Appended = Object.freeze({ ...UNAVAILABLE, kind: 'refused', reason: 'full' })
