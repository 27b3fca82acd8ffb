// Appends batches, one message each, through one lane writer for each lane.
//
// Invariants:
//   jetstream-writer/1. Waiting bytes are bounded, and each append answers within a bounded time,
//     so that no backlog grows without NATS.
//   jetstream-writer/2. The stream never gives a position twice: a confirmation at or before the
//     last position known when the append began means that the stream lost entries. (W5)
//   jetstream-writer/3. The writer refuses a batch that exceeds the connected server's max_payload,
//     for which the client would throw.

import { jetstream } from '@nats-io/jetstream'
import type { Appended, Batch } from '#domain/lane'
import type { LogWriter } from '#domain/ports'

import type { NatsPorts } from './connection.ts'
import type { LaneStream } from './lane-stream.ts'
import { LaneWriter, UNAVAILABLE } from './lane-writer.ts'
import type { LaneWriterPorts } from './lane-writer.ts'

/** What the two sides of the log are handed. */
export interface LogPorts extends NatsPorts {
  readonly stream: LaneStream
}

export interface WriterOptions {
  /** Bound for the bytes of unanswered appends. */
  readonly pendingBytesMax: number
  /** Milliseconds before the writer refuses an append that reaches no server. */
  readonly timeoutMs: number
}

/** Bound for the bytes of an append's headers. */
const HEADERS_BYTES = 256

const encoder = new TextEncoder()

export class JetStreamWriter implements LogWriter {
  readonly #ports: LogPorts
  readonly #options: WriterOptions
  readonly #laneWriterPorts: LaneWriterPorts
  readonly #lanes = new Map<number, LaneWriter>()
  /** The name of this run of this process, used in its subjects. */
  readonly name: string
  #pendingBytes = 0

  constructor(ports: LogPorts, options: WriterOptions) {
    const { connection, meter, entropy } = ports
    this.#ports = ports
    this.#options = options
    this.name = entropy(9).toString('base64url')
    this.#laneWriterPorts = {
      ...ports,
      publisher: jetstream(connection.nats),
      canSend: (payload) => connection.isConnected && this.#fits(payload),
      count: {
        retried: meter.counter('stream_appends_retried_total', {}),
        unknown: meter.counter('stream_appends_unknown_total', {}),
        foundLate: meter.counter('stream_appends_found_late_total', {}),
      },
    }
    meter.gauge('stream_pending_bytes', {}, () => this.#pendingBytes)
  }

  async append({ lane, payload }: Batch): Promise<Appended> {
    const { connection, stream } = this.#ports
    const { pendingBytesMax, timeoutMs } = this.#options
    const bytes = encoder.encode(payload)
    const isLongDisconnected = connection.disconnectedMs() > timeoutMs
    const isOverBound = this.#pendingBytes + bytes.length > pendingBytesMax
    if (stream.mismatch !== undefined || isLongDisconnected || isOverBound || !this.#fits(bytes)) {
      return UNAVAILABLE // jetstream-writer/1, jetstream-writer/3
    }
    this.#pendingBytes += bytes.length
    const outcome = await this.#laneWriterOf(lane).append(bytes)
    this.#pendingBytes -= bytes.length
    return outcome
  }

  /** Answers every waiting append. */
  close(): void {
    for (const lane of this.#lanes.values()) lane.close()
  }

  #laneWriterOf(lane: number): LaneWriter {
    const known = this.#lanes.get(lane)
    if (known !== undefined) return known
    const subject = this.#ports.stream.subjectOf(lane, this.name)
    const { timeoutMs } = this.#options
    const made = new LaneWriter(this.#laneWriterPorts, { lane, subject, timeoutMs })
    this.#lanes.set(lane, made)
    return made
  }

  #fits(payload: Uint8Array): boolean {
    const { connection, logger } = this.#ports
    const { max_payload: bytesMax = Infinity } = connection.nats.info ?? {}
    const bytes = payload.length + HEADERS_BYTES
    if (bytes <= bytesMax) return true
    logger.error('an append is larger than max_payload of the NATS server', { bytes, bytesMax })
    return false
  }
}
