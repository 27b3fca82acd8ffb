// Submits what one client publishes, through the acceptance stage.
//
// Invariants:
//   mqtt-publisher/1. A publish has one effect, however often it is tried: its op_id is made once.
//   mqtt-publisher/2. A client that cannot be told that the gateway is busy waits for its answer:
//                     its publish is tried again until it is in the log or refused.

import { hash } from 'node:crypto'

import type { ChannelId } from '#domain/identity'
import { operationIdFrom, parseOperationId } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import type { Guard } from '#src/acceptance/caller-check'
import type { Mappings } from '#src/acceptance/channels/mappings'
import type { MadeIds, Submissions } from '#src/acceptance/submissions'
import type { Arrival, DoorRequests } from '#src/doors/door-requests'
import { CATEGORY, STATUS, lineOf } from '#src/refusals/refusal'
import { TTL_MAX_MS } from '#src/schemas/message'
import type { Mapping } from '#src/schemas/mappings/mapping'
import { OPERATION_ID_RULE } from '#src/schemas/values'
import type { ProtocolLevel } from './codec.ts'
import type { Publication } from './publishes.ts'
import type { Remembered } from './remembered.ts'
import type { OwnPublishes } from './subscriber.ts'
import { NO_STATE } from '#src/mqtt/devices/family-state'
import type { Reply, Translation, Wish } from '#src/mqtt/devices/publish'
import { UNMAPPED, readPublish } from './topics.ts'

export interface PublisherPorts {
  readonly requests: Pick<DoorRequests, 'answer'>
  readonly submissions: Pick<Submissions, 'submit'>
  readonly mappings: Pick<Mappings, 'of' | 'unmapped'>
  readonly runtime: Pick<Runtime, 'nowMs' | 'wait'>
  readonly newHex32: () => string
  readonly logger: Pick<Logger, 'debug'>
  /** Counts a publish at QoS 0 that the gateway was too busy for. */
  readonly lost: () => void
}

/** The client behind the publishes. Its password is a secret. */
export interface PublishingClient {
  readonly channelId: ChannelId
  /** The password of the channel, or a key. */
  readonly password: string
  readonly address: string
  readonly level: ProtocolLevel
  /** The Thing of publishes whose topics name none. */
  readonly thingId: string
  /** The exchanges of a kept session. */
  readonly remembered: Pick<Remembered, 'opIdOf'> | undefined
  /** Sends a publish to the client, unless it is gone. */
  readonly reply: (reply: Reply) => void
}

/** What becomes of a publish; undefined when the log has it. */
type Outcome = Fault | 'taken-over' | undefined

/** What becomes of a will, read while its connection was known, and that which submits it. */
export interface Bequest {
  readonly wishes: readonly Wish[]
  /** Holds nothing of the connection. */
  readonly heir: Pick<Publisher, 'submit'>
}

/** A submission under way, and how it is handed over again. */
interface Sent extends Pick<Publication, 'topic' | 'qos'> {
  readonly submit: () => ReturnType<Submissions['submit']>
}

/** The credentials were counted when the session began. */
const GUARD: Guard = { token: 'none', budget: 'none' }
const RETRY_AFTER_MS = 1_000
/** Own publishes that are remembered until the feed brings them. */
const OWN_MAX = 1_024

export class Publisher implements OwnPublishes {
  readonly #ports: PublisherPorts
  readonly #client: PublishingClient
  readonly #arrival: Arrival
  #isOver = false
  /** What earlier publishes said about later ones. */
  #state = NO_STATE
  /** The op_ids of recent publishes; undefined as long as nobody asks for them. */
  #own: Set<OperationId> | undefined

  constructor(ports: PublisherPorts, client: PublishingClient) {
    this.#ports = ports
    this.#client = client
    this.#arrival = { guard: GUARD, peer: { address: client.address }, authorization: '' }
  }

  /** Stops trying again. */
  end(): void {
    this.#isOver = true
  }

  remember(): void {
    this.#own ??= new Set()
  }

  has(opId: OperationId): boolean {
    return this.#own?.has(opId) === true
  }

  /**
   * Submits a publish. Returns, mostly as a promise, once the log has every submission of it, or
   * the refusal of one; `taken-over` when a newer connection has the session, which submits it.
   */
  publish(publication: Publication): Outcome | Promise<Outcome> {
    const receivedAtMs = this.#ports.runtime.nowMs()
    const known = this.#ports.mappings.of(this.#client.channelId)
    return known instanceof Promise
      ? known.then((mappings) => this.#read(publication, mappings, receivedAtMs))
      : this.#read(publication, known, receivedAtMs)
  }

  #read(
    publication: Publication,
    mappings: readonly Mapping[],
    receivedAtMs: number,
  ): Outcome | Promise<Outcome> {
    const read = this.#understood(publication, mappings, receivedAtMs)
    if (isFault(read)) return read
    this.#state = read.state
    for (const reply of read.replies) this.#client.reply(reply)
    return this.submit(read.wishes, publication, receivedAtMs)
  }

  #understood(
    publication: Publication,
    mappings: readonly Mapping[],
    receivedAtMs: number,
  ): Answer<Translation> {
    const { topic, payload } = publication
    const { thingId, channelId } = this.#client
    const sender = { thingId, mappings }
    const read = readPublish({ topic, payload, receivedAtMs }, { sender, state: this.#state })
    if (read === UNMAPPED) this.#ports.mappings.unmapped(channelId, topic, receivedAtMs)
    return isFault(read) ? this.#unread(read, publication) : read
  }

  /**
   * Reads a will by what this connection has said, as of the time at which it is due; undefined
   * when it is refused.
   */
  async bequest(will: Publication, dueMs: number): Promise<Bequest | undefined> {
    const mappings = await this.#ports.mappings.of(this.#client.channelId)
    const read = this.#understood(will, mappings, dueMs)
    if (isFault(read)) return undefined
    const heir = new Publisher(this.#ports, { ...this.#client, remembered: undefined, reply })
    heir.end()
    return { wishes: read.wishes, heir }
  }

  /** Submits what a publish has become, under an op_id where it needs one. */
  submit(
    wishes: readonly Wish[],
    publication: Publication,
    receivedAtMs: number,
  ): Outcome | Promise<Outcome> {
    const isNamed = publication.qos > 0 || this.#own !== undefined
    const opId = isNamed ? this.#opIdOf(publication, receivedAtMs) : undefined
    return opId instanceof Promise
      ? opId.then((known) => this.#submit(wishes, known, publication))
      : this.#submit(wishes, opId, publication)
  }

  #submit(
    wishes: readonly Wish[],
    opId: OperationId | Fault | 'taken-over' | undefined,
    publication: Publication,
  ): Outcome | Promise<Outcome> {
    if (opId === 'taken-over') return 'taken-over'
    if (isFault(opId)) return this.#unread(opId, publication)
    const [wish] = wishes
    if (wish === undefined) return undefined
    if (wishes.length === 1) return this.#tried(wish, opId, publication)
    return this.#allTried(wishes, opId, publication)
  }

  async #allTried(
    wishes: readonly Wish[],
    opId: OperationId | undefined,
    publication: Publication,
  ): Promise<Fault | undefined> {
    for (const [index, wish] of wishes.entries()) {
      const refusal = await this.#tried(wish, opId && nthOf(opId, index), publication)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  #noteOwn(opId: OperationId): void {
    if (this.#own === undefined) return
    this.#own.add(opId)
    const [oldest] = this.#own
    if (this.#own.size > OWN_MAX && oldest !== undefined) this.#own.delete(oldest)
  }

  #tried(
    wish: Wish,
    opId: OperationId | undefined,
    publication: Publication,
  ): Fault | undefined | Promise<Fault | undefined> {
    const { channelId, password } = this.#client
    const { requests, submissions } = this.#ports
    const { topic, qos } = publication
    const { intent } = wish
    const said = intent.model === 'message' && saidOf(publication)
    const fields = { ...said, ...wish.fields, channel_id: channelId, password }
    const made = opId && madeFrom(opId)
    if (opId !== undefined) this.#noteOwn(opId)
    const submit = (): ReturnType<Submissions['submit']> =>
      requests.answer(this.#arrival, (caller) => submissions.submit(intent, fields, caller, made))
    const answer = submit()
    if (!(answer instanceof Promise)) return this.#answered(answer, { topic, qos, submit })
    return answer.then((later) => this.#answered(later, { topic, qos, submit }))
  }

  #answered(
    answer: Answer<unknown>,
    { submit, ...sent }: Sent,
  ): Fault | undefined | Promise<Fault | undefined> {
    if (!isFault(answer)) return undefined
    if (!this.#waits(answer, sent)) return this.#refused(answer, sent)
    return this.#triedAgain(answer, { submit, ...sent })
  }

  /** mqtt-publisher/2 */
  #waits(refusal: Fault, { qos }: Pick<Sent, 'qos'>): boolean {
    return this.#client.level === 4 && qos > 0 && isBusy(refusal) && !this.#isOver
  }

  async #triedAgain(refusal: Fault, { submit, ...sent }: Sent): Promise<Fault | undefined> {
    let last = refusal
    while (this.#waits(last, sent)) {
      await this.#ports.runtime.wait(last.retryAfterMs ?? RETRY_AFTER_MS)
      const answer = await submit()
      if (!isFault(answer)) return undefined
      last = answer
    }
    return this.#refused(last, sent)
  }

  /** mqtt-publisher/1 */
  #opIdOf(
    publication: Publication,
    receivedAtMs: number,
  ): OperationId | Fault | Promise<OperationId | 'taken-over'> {
    const { opId, packetId } = publication
    const { remembered } = this.#client
    if (opId === undefined && remembered !== undefined && packetId > 0) {
      return remembered.opIdOf(publication).then((known) => known ?? 'taken-over')
    }
    if (opId === undefined) return operationIdFrom(receivedAtMs, this.#ports.newHex32())
    const detail = `the user property op_id ${OPERATION_ID_RULE}`
    return parseOperationId(opId) ?? fault('validation_failed', { field: 'op_id', detail })
  }

  /** Refuses a publish that is no submission, which counts as every refusal. */
  #unread(refusal: Fault, publication: Publication): Fault {
    void this.#ports.requests.answer(this.#arrival, () => refusal)
    return this.#refused(refusal, publication)
  }

  #refused(refusal: Fault, { topic, qos }: Pick<Publication, 'topic' | 'qos'>): Fault {
    if (qos === 0 && isBusy(refusal)) this.#ports.lost()
    const { channelId } = this.#client
    const facts = { channelId, topic, code: refusal.code, reason: lineOf(refusal) }
    this.#ports.logger.debug('a publish was refused', facts)
    return refusal
  }
}

/** Nobody is there to hear it. */
const reply = (): void => undefined

const isBusy = ({ code }: Fault): boolean => CATEGORY[STATUS[code]] === 'too_busy'

/** Returns the fields of a Message that its properties set; its payload overrides them. */
const saidOf = ({ opId, expirySeconds = 0 }: Publication): Readonly<Record<string, unknown>> => ({
  ...(opId !== undefined && { op_id: opId }),
  ...(expirySeconds > 0 && { ttl: Math.min(expirySeconds, TTL_MAX_MS / 1_000) }),
})

/** The same for the same op_id: a submission that comes again is the same. */
const madeFrom = (opId: OperationId): MadeIds => ({
  opId,
  entityHex: () => hash('sha256', opId, 'hex').slice(0, 32),
})

/** A publish of several submissions has an op_id for each. */
const nthOf = (opId: OperationId, index: number): OperationId =>
  index === 0 ? opId : (parseOperationId(`${opId}:${index}`) ?? opId)
