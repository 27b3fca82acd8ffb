// Manages the one stream that holds every lane: a subject for each lane and writer, one message a
// batch.
//
// Invariants:
//   W4. The stream has no age limit, `discard: new` and a byte bound, so it drops nothing that is
//     not applied. A purge keeps the last applied entry of each lane, so that a database can always
//     compare its applied position with the lane's end.
//   W5. The stream has a random identity from its creation. The process stops following a stream
//     with another identity, or one that ends before a position that it held. A leader may store an
//     entry later than another server has delivered it, so an end that is too early means a loss
//     only if it stays.

import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  jetstreamManager,
} from '@nats-io/jetstream'
import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { LogMismatch } from '#domain/lane'
import type { LogPosition } from '#domain/lane'
import type { Logger } from '#domain/telemetry'

import type { NatsPorts } from './connection.ts'
import { pause } from './timers.ts'
import type { Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'

export interface LaneStreamSettings {
  /** The stream's name. */
  readonly name: string
  /** The prefix of the subjects. */
  readonly prefix: string
  readonly replicas: number
  readonly bytesMax: number
}

/** The position of a message in the stream, and the time at which the server stored it. */
export interface StoredMessage {
  readonly position: LogPosition
  readonly atMs: number
}

/** The largest batch has 256 Ki characters of at most three bytes each, and headers. */
const PAYLOAD_BYTES_MIN = 2 ** 20
const REQUEST_TIMEOUT_MS = 2000
/** Longer than a writer repeats a batch. (lane-writer/4) */
const DUPLICATE_WINDOW = nanos(20_000)
/** Ten seconds in all: longer than an election or the delay of a slow disk. (W5) */
const END_CHECKS_MAX = 40
const END_CHECK_PAUSE_MS = 250
const IDENTITY = /^heliograph log ([0-9a-f]{32})$/
const ALREADY_EXISTS = 10_058
export const NOT_FOUND = 10_059

export class LaneStream {
  readonly name: string
  readonly identity: string
  readonly manager: JetStreamManager
  readonly #settings: LaneStreamSettings
  readonly #logger: Logger
  readonly #timers: Timers
  #highestPosition = 0
  #mismatch: LogMismatch | undefined
  #endCheck: Promise<void> | undefined

  private constructor(
    manager: JetStreamManager,
    { settings, logger, timers, identity }: Opened & { readonly identity: string },
  ) {
    this.manager = manager
    this.name = settings.name
    this.identity = identity
    this.#settings = settings
    this.#logger = logger
    this.#timers = timers
  }

  /** Finds or creates the stream. Rejects with a sentence for the operator. */
  static async open(ports: NatsPorts, settings: LaneStreamSettings): Promise<LaneStream> {
    const { connection, logger, timers, entropy } = ports
    const payloadMax = connection.nats.info?.max_payload ?? 0
    if (payloadMax < PAYLOAD_BYTES_MIN) {
      throw new Error(
        `max_payload of the NATS server is ${payloadMax}; set it to ${PAYLOAD_BYTES_MIN} or more`,
      )
    }
    const manager = await jetstreamManager(connection.nats, {
      checkAPI: false,
      timeout: REQUEST_TIMEOUT_MS,
    })
    const { config, cluster } = await findOrCreate(manager, settings, entropy)
    const identity = IDENTITY.exec(config.description ?? '')?.[1]
    if (identity === undefined) {
      throw new LogMismatch(
        `the stream ${settings.name} was not made by Heliograph; choose another name or remove it`,
      )
    }
    if (settings.replicas > 1 && cluster === undefined) {
      // A server alone takes more replicas of a stream that it has, and makes none.
      throw new Error(`${tooFewServers(settings.replicas)}: this one is in none`)
    }
    await adjust(manager, config, settings)
    return new LaneStream(manager, { settings, logger, timers, identity })
  }

  /** Returns the subject of one writer in a lane. */
  subjectOf(lane: number, writer: string): string {
    return `${this.#settings.prefix}.lane.${lane}.${writer}`
  }

  /** Returns the filter for the subjects of a lane's writers. */
  filterOf(lane: number): string {
    return this.subjectOf(lane, '*')
  }

  /** The greatest position that the stream is known to hold. */
  get highestPosition(): LogPosition {
    return this.#highestPosition
  }

  /** The reason why the process stopped following the stream; undefined before. (W5) */
  get mismatch(): LogMismatch | undefined {
    return this.#mismatch
  }

  /** Notes a position that the stream held: a confirmed, read or applied one. */
  notePosition(position: LogPosition): void {
    if (position > this.#highestPosition) this.#highestPosition = position
  }

  /** W5: ends appends and reads. `sentence` gives the reason. */
  stopFollowing(sentence: string): void {
    if (this.#mismatch !== undefined) return
    this.#mismatch = new LogMismatch(sentence)
    this.#logger.error('the log cannot be followed any more', { reason: sentence })
  }

  /**
   * Checks that this is still the stream that the process opened. Rejects when the server does not
   * answer.
   */
  async verify(): Promise<StreamInfo> {
    const highest = this.#highestPosition
    const info = await this.manager.streams.info(this.name)
    const identity = IDENTITY.exec(info.config.description ?? '')?.[1]
    if (identity !== this.identity) {
      this.stopFollowing(
        `the stream ${this.name} was replaced by another one; restore it, or start anew`,
      )
    } else if (info.state.last_seq < highest) {
      this.#endCheck ??= this.#checkEnd(highest).finally(() => {
        this.#endCheck = undefined
      })
      await this.#endCheck
    }
    return info
  }

  /**
   * W5: resolves once the stream reaches a position. Stops following a stream that still lacks it
   * after END_CHECKS_MAX checks.
   */
  async #checkEnd(highest: LogPosition): Promise<void> {
    for (let check = 1; check <= END_CHECKS_MAX; check += 1) {
      await pause(this.#timers, END_CHECK_PAUSE_MS)
      const { state } = await this.manager.streams.info(this.name)
      if (state.last_seq >= highest) return
      if (check < END_CHECKS_MAX) continue
      this.stopFollowing(
        `the stream ${this.name} ends at ${state.last_seq} but held ${highest}: ` +
          'entries were lost',
      )
    }
  }

  /** Returns the first message at or behind a position, of one lane or of all. */
  async next(position: LogPosition, lane?: number): Promise<StoredMessage | undefined> {
    const subject = lane === undefined ? allLanes(this.#settings.prefix) : this.filterOf(lane)
    return this.#find({ seq: Math.max(1, position), next_by_subj: subject })
  }

  /** Returns the last position over all lanes. */
  async end(): Promise<LogPosition> {
    return (await this.manager.streams.info(this.name)).state.last_seq
  }

  /** Returns the last message of a lane. */
  async last(lane: number): Promise<StoredMessage | undefined> {
    return this.lastOf(this.filterOf(lane))
  }

  /** Returns the last message of a subject, or of a filter. */
  async lastOf(subject: string): Promise<StoredMessage | undefined> {
    return this.#find({ last_by_subj: subject })
  }

  /** Returns the payload of the message at a position; undefined when there is none. */
  async payloadAt(position: LogPosition): Promise<Uint8Array | undefined> {
    return (await this.manager.streams.getMessage(this.name, { seq: position }))?.data
  }

  /**
   * Removes a lane's messages before a position and keeps the one at it. Gives their number. (W4)
   */
  async purge(lane: number, before: LogPosition): Promise<number> {
    const filter = this.filterOf(lane)
    const { purged } = await this.manager.streams.purge(this.name, { filter, seq: before })
    return purged
  }

  async #find(query: MessageQuery): Promise<StoredMessage | undefined> {
    const stored = await this.manager.streams.getMessage(this.name, query)
    return stored === null ? undefined : { position: stored.seq, atMs: stored.time.getTime() }
  }
}

/** Returns the filter for every subject of the stream. */
const allLanes = (prefix: string): string => `${prefix}.lane.*.*`

/** The beginning of a sentence for the operator. */
export const tooFewServers = (replicas: number): string =>
  `SERVICE_STREAM_REPLICAS=${replicas} needs as many NATS servers in a cluster`

const isApiError = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code

/** Asks for the first message of a subject at or behind a sequence number, or for the last one. */
type MessageQuery =
  | { readonly seq: number; readonly next_by_subj: string }
  | { readonly last_by_subj: string }

interface Opened {
  readonly settings: LaneStreamSettings
  readonly logger: Logger
  readonly timers: Timers
}

/** When several nodes start together, one creates the stream and the others find it. */
async function findOrCreate(
  manager: JetStreamManager,
  settings: LaneStreamSettings,
  entropy: Runtime['entropy'],
): Promise<StreamInfo> {
  try {
    return await manager.streams.info(settings.name)
  } catch (error) {
    if (!isApiError(error, NOT_FOUND)) throw error
  }
  try {
    return await manager.streams.add(configOf(settings, entropy(16).toString('hex')))
  } catch (error) {
    if (!isApiError(error, ALREADY_EXISTS)) throw error
    return manager.streams.info(settings.name)
  }
}

function configOf({ name, prefix, replicas, bytesMax }: LaneStreamSettings, identity: string) {
  return {
    name,
    description: `heliograph log ${identity}`, // W5
    subjects: [allLanes(prefix)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New, // W4
    max_bytes: bytesMax,
    max_age: 0,
    num_replicas: replicas,
    duplicate_window: DUPLICATE_WINDOW,
  }
}

/** Gives an existing stream the configured bounds. Rejects when it has other subjects. */
async function adjust(
  manager: JetStreamManager,
  config: StreamConfig,
  { name, prefix, replicas, bytesMax }: LaneStreamSettings,
): Promise<void> {
  if (!config.subjects.includes(allLanes(prefix))) {
    throw new LogMismatch(`the stream ${name} belongs to another installation: other subjects`)
  }
  const wanted = {
    num_replicas: replicas,
    max_bytes: bytesMax,
    duplicate_window: DUPLICATE_WINDOW,
  } as const
  const isWanted =
    config.num_replicas === replicas &&
    config.max_bytes === bytesMax &&
    config.duplicate_window === DUPLICATE_WINDOW
  if (!isWanted) await manager.streams.update(name, wanted)
}
