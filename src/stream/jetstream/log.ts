// The log on JetStream: opens the stream and joins its two sides.

import { JetStreamApiError } from '@nats-io/jetstream'

import { firstAnswer } from '#domain/first-answer'
import type { Appended, Batch, LogEntry, LogBounds, LogPosition } from '#domain/lane'
import type { LogReader, LogWriter } from '#domain/ports'

import { reasonOf } from './connection.ts'
import type { NatsPorts } from './connection.ts'
import { LaneStream, NOT_FOUND, tooFewServers } from './lane-stream.ts'
import type { LaneStreamSettings } from './lane-stream.ts'
import { JetStreamReader } from './reader.ts'
import { JetStreamWriter } from './writer.ts'

export interface JetStreamLogOptions {
  /** The stream's name; HELIOGRAPH by default. */
  readonly name?: string
  /** The prefix of the subjects; heliograph by default. */
  readonly prefix?: string
  readonly replicas: number
  readonly bytesMax: number
  /** Bound for the bytes of fetched entries over all lanes. */
  readonly tailBytesMax: number
  /** Bound for the bytes of unanswered appends. */
  readonly pendingBytesMax: number
  /** The time to wait for servers at the start; see domain/first-answer.ts. */
  readonly firstAnswerMsMax?: number
}

/**
 * Opens the stream and waits until it answers: a stream that gets more replicas has no leader for a
 * moment.
 */
async function openAnswering(ports: NatsPorts, settings: LaneStreamSettings) {
  const stream = await LaneStream.open(ports, settings)
  await stream.next(1)
  return stream
}

const NAME = 'HELIOGRAPH'
const PREFIX = 'heliograph'
export const APPEND_TIMEOUT_MS = 2000

/** Joins writer and reader. The reader fetches nothing before the first read. */
export class JetStreamLog implements LogWriter, LogReader {
  readonly stream: LaneStream
  readonly #writer: JetStreamWriter
  readonly #reader: JetStreamReader

  private constructor(
    stream: LaneStream,
    { ports, options }: { ports: NatsPorts; options: JetStreamLogOptions },
  ) {
    this.stream = stream
    const { pendingBytesMax, tailBytesMax, bytesMax } = options
    const ofWriter = { pendingBytesMax, timeoutMs: APPEND_TIMEOUT_MS }
    this.#writer = new JetStreamWriter({ ...ports, stream }, ofWriter)
    this.#reader = new JetStreamReader({ ...ports, stream }, { tailBytesMax, bytesMax })
  }

  /**
   * Finds or creates the stream, and waits for servers that are still electing a leader. Rejects
   * with a sentence for the operator.
   */
  static async open(ports: NatsPorts, options: JetStreamLogOptions): Promise<JetStreamLog> {
    const { name = NAME, prefix = PREFIX, replicas, bytesMax, firstAnswerMsMax } = options
    const { logger, timers } = ports
    const settings = { name, prefix, replicas, bytesMax }
    const reasonFor = (error: unknown): string =>
      isTooFew(error) ? `${tooFewServers(replicas)}: ${reasonOf(error)}` : reasonOf(error)
    const stream = await firstAnswer(() => openAnswering(ports, settings), {
      fact: 'JetStream does not answer; trying again',
      mayPass: isStarting,
      reasonOf: reasonFor,
      logger,
      after: (delayMs, callback) => timers.after(delayMs, callback),
      boundMs: firstAnswerMsMax,
    }).catch((error: unknown) => {
      if (isTooFew(error)) throw new Error(reasonFor(error), { cause: error })
      if (!isStarting(error)) throw error
      throw new Error(`JetStream did not answer: ${reasonOf(error)}`, { cause: error })
    })
    return new JetStreamLog(stream, { ports, options })
  }

  /** The name under which this process appends. (LogEntry) */
  get writer(): string {
    return this.#writer.name
  }

  append(batch: Batch): Promise<Appended> {
    return this.#writer.append(batch)
  }

  identity(): Promise<string> {
    return this.#reader.identity()
  }

  bounds(lane: number): Promise<LogBounds> {
    return this.#reader.bounds(lane)
  }

  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly LogEntry[]> {
    return this.#reader.read(lane, after, maxCount)
  }

  watch(wake: (lane: number) => void): () => void {
    return this.#reader.watch(wake)
  }

  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
  ): Promise<{ readonly purged: number }> {
    return this.#reader.purge(lane, through, olderThanMs)
  }

  /** Refuses waiting appends and stops reading. The connection stays open. */
  close(): void {
    this.#writer.close()
    this.#reader.close()
  }
}

/**
 * Error codes: too few servers for the replicas; no known leader; not the leader any more; and not
 * found, which a server answers that leads a stream before it has it. One that is not there was
 * made before. (lane-stream.ts)
 */
const STARTING_CODES = new Set([10_005, 10_008, 10_009, NOT_FOUND])
/** Names, because the client does not export both classes. */
const STARTING_NAMES = new Set(['TimeoutError', 'JetStreamNotEnabled'])

/** Too few servers for the replicas: in a cluster, or because there is none. */
const isTooFew = (error: unknown): boolean =>
  error instanceof JetStreamApiError && (error.code === 10_005 || error.code === 10_074)

/** True for the errors of servers that are electing a leader, and of a stream that has none. */
function isStarting(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return STARTING_CODES.has(error.code)
  return error instanceof Error && STARTING_NAMES.has(error.name)
}
