// The one stream that holds every lane: a subject for each lane and writer, one message a batch.
//
// Invariants:
//   W4. No age limit, `discard: new` and a byte bound: the stream drops nothing that is not
//     applied. A purge keeps the last applied entry of each lane, so that a lane's end can always
//     be compared.
//   W5. The stream carries a random identity from its creation. The process stops following a
//     stream with another identity, or one that ends before a position known to be in it. A leader
//     may store an entry later than another server has handed it out, so an end that is too early
//     counts only once it stays.

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

import type { Connection } from './connection.ts'
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

export interface LaneStreamPorts {
  readonly connection: Connection
  readonly logger: Logger
  readonly timers: Timers
  readonly entropy: Runtime['entropy']
}

/** A message at a place of the stream. */
export interface Mark {
  readonly position: LogPosition
  readonly atMs: number
}

/** The largest batch has 256 Ki characters, each of three bytes at most, and headers. */
const PAYLOAD_BYTES_MIN = 2 ** 20
const REQUEST_TIMEOUT_MS = 2000
/** Longer than a batch is sent again. (lane-writer/4) */
const DUPLICATE_WINDOW = nanos(20_000)
/** Ten seconds: longer than an election, or than a slow disk delays. (W5) */
const LOOKS_AT_END = 40
const LOOK_AGAIN_MS = 250
const IDENTITY = /^heliograph log ([0-9a-f]{32})$/
const ALREADY_THERE = 10_058
const NOT_THERE = 10_059

export class LaneStream {
  readonly name: string
  readonly identity: string
  readonly manager: JetStreamManager
  readonly #settings: LaneStreamSettings
  readonly #logger: Logger
  readonly #timers: Timers
  #highest = 0
  #mismatch: LogMismatch | undefined
  #lookingAgain: Promise<void> | undefined

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

  /** Finds the stream or makes it. Rejects with a sentence for the operator. */
  static async open(ports: LaneStreamPorts, settings: LaneStreamSettings): Promise<LaneStream> {
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
    const { config } = await findOrMake(manager, settings, entropy)
    const identity = IDENTITY.exec(config.description ?? '')?.[1]
    if (identity === undefined) {
      throw new LogMismatch(
        `the stream ${settings.name} was not made by Heliograph; choose another name or remove it`,
      )
    }
    await adjust(manager, config, settings)
    return new LaneStream(manager, { settings, logger, timers, identity })
  }

  /** The subject of one writer in a lane. */
  subjectOf(lane: number, writer: string): string {
    return `${this.#settings.prefix}.lane.${lane}.${writer}`
  }

  /** The filter over the subjects of a lane's writers. */
  filterOf(lane: number): string {
    return this.subjectOf(lane, '*')
  }

  /** The greatest position that is known to be in the stream. */
  get highest(): LogPosition {
    return this.#highest
  }

  /** Set once the stream cannot be followed any more. (W5) */
  get mismatch(): LogMismatch | undefined {
    return this.#mismatch
  }

  /** Notes a position that was confirmed, read or found to be applied. */
  saw(position: LogPosition): void {
    if (position > this.#highest) this.#highest = position
  }

  /** W5: from now on nothing is appended and nothing read. */
  refuse(sentence: string): void {
    if (this.#mismatch !== undefined) return
    this.#mismatch = new LogMismatch(sentence)
    this.#logger.error('the log cannot be followed any more', { reason: sentence })
  }

  /**
   * Checks that this is still the stream that was opened. Rejects when the server does not answer.
   */
  async verify(): Promise<StreamInfo> {
    const highest = this.#highest
    const info = await this.manager.streams.info(this.name)
    const identity = IDENTITY.exec(info.config.description ?? '')?.[1]
    if (identity !== this.identity) {
      this.refuse(`the stream ${this.name} was replaced by another one; restore it, or start anew`)
    } else if (info.state.last_seq < highest) {
      this.#lookingAgain ??= this.#lookAgain(highest).finally(() => {
        this.#lookingAgain = undefined
      })
      await this.#lookingAgain
    }
    return info
  }

  /**
   * W5: resolves once the stream holds a position. Refuses a stream that still lacks it after
   * LOOKS_AT_END looks.
   */
  async #lookAgain(highest: LogPosition): Promise<void> {
    for (let look = 1; look <= LOOKS_AT_END; look += 1) {
      await pause(this.#timers, LOOK_AGAIN_MS)
      const { state } = await this.manager.streams.info(this.name)
      if (state.last_seq >= highest) return
      if (look < LOOKS_AT_END) continue
      this.refuse(
        `the stream ${this.name} ends at ${state.last_seq} but held ${highest}: ` +
          'entries were lost',
      )
    }
  }

  /** The first message at or behind a position, of one lane or of all. */
  async next(position: LogPosition, lane?: number): Promise<Mark | undefined> {
    const subject = lane === undefined ? everyLane(this.#settings.prefix) : this.filterOf(lane)
    return this.#mark({ seq: Math.max(1, position), next_by_subj: subject })
  }

  /** The last position over all lanes. */
  async end(): Promise<LogPosition> {
    return (await this.manager.streams.info(this.name)).state.last_seq
  }

  /** The last message of a lane. */
  async last(lane: number): Promise<Mark | undefined> {
    return this.lastOf(this.filterOf(lane))
  }

  /** The last message of a subject, or of a filter. */
  async lastOf(subject: string): Promise<Mark | undefined> {
    return this.#mark({ last_by_subj: subject })
  }

  /** The payload of the message at a position; undefined when there is none. */
  async payloadAt(position: LogPosition): Promise<Uint8Array | undefined> {
    return (await this.manager.streams.getMessage(this.name, { seq: position }))?.data
  }

  /** Removes a lane's messages before a position; the one at it stays. (W4) */
  async purge(lane: number, before: LogPosition): Promise<number> {
    const filter = this.filterOf(lane)
    const { purged } = await this.manager.streams.purge(this.name, { filter, seq: before })
    return purged
  }

  async #mark(query: NextQuery | LastQuery): Promise<Mark | undefined> {
    const stored = await this.manager.streams.getMessage(this.name, query)
    return stored === null ? undefined : { position: stored.seq, atMs: stored.time.getTime() }
  }
}

/** Every subject of the stream. */
const everyLane = (prefix: string): string => `${prefix}.lane.*.*`

const isApiError = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code

/** The first message of a subject at or behind a sequence. */
interface NextQuery {
  readonly seq: number
  readonly next_by_subj: string
}

interface LastQuery {
  readonly last_by_subj: string
}

interface Opened {
  readonly settings: LaneStreamSettings
  readonly logger: Logger
  readonly timers: Timers
}

/** When several nodes start together one makes the stream and the others find it. */
async function findOrMake(
  manager: JetStreamManager,
  settings: LaneStreamSettings,
  entropy: Runtime['entropy'],
): Promise<StreamInfo> {
  try {
    return await manager.streams.info(settings.name)
  } catch (error) {
    if (!isApiError(error, NOT_THERE)) throw error
  }
  try {
    return await manager.streams.add(configOf(settings, entropy(16).toString('hex')))
  } catch (error) {
    if (!isApiError(error, ALREADY_THERE)) throw error
    return manager.streams.info(settings.name)
  }
}

function configOf({ name, prefix, replicas, bytesMax }: LaneStreamSettings, identity: string) {
  return {
    name,
    description: `heliograph log ${identity}`, // W5
    subjects: [everyLane(prefix)],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New, // W4
    max_bytes: bytesMax,
    max_age: 0,
    num_replicas: replicas,
    duplicate_window: DUPLICATE_WINDOW,
  }
}

/** Gives an existing stream the bounds of the settings. */
async function adjust(
  manager: JetStreamManager,
  config: StreamConfig,
  { name, prefix, replicas, bytesMax }: LaneStreamSettings,
): Promise<void> {
  if (config.subjects.includes(`${prefix}.lane.*`)) {
    throw new LogMismatch(
      `the stream ${name} was written by an earlier version: let that version apply it, ` +
        'then start anew with an empty stream (docs/operations.md, Upgrade)',
    )
  }
  if (!config.subjects.includes(everyLane(prefix))) {
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
