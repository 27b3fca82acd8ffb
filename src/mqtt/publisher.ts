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
import type { PublishName, Remembered } from './remembered.ts'
import type { OwnPublishes } from './subscriber.ts'
import { NO_STATE } from '#src/mqtt/devices/family-state'
import type { Reply, Wish } from '#src/mqtt/devices/publish'
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
  readonly remembered: Pick<Remembered, 'nameOf'> | undefined
  /** Sends a publish to the client, unless it is gone. */
  readonly reply: (reply: Reply) => void
}

/** What becomes of a publish; undefined when the log has it. */
type Outcome = Fault | 'taken-over' | undefined

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
    const { topic, payload, qos } = publication
    const { thingId, channelId } = this.#client
    const sender = { thingId, mappings }
    const read = readPublish({ topic, payload, receivedAtMs }, { sender, state: this.#state })
    if (read === UNMAPPED) this.#ports.mappings.unmapped(channelId, topic, receivedAtMs)
    if (isFault(read)) return this.#unread(read, publication)
    this.#state = read.state
    for (const reply of read.replies) this.#client.reply(reply)
    const isNamed = qos > 0 || this.#own !== undefined
    const name = isNamed ? this.#nameOf(publication, receivedAtMs) : undefined
    const { wishes } = read
    return name instanceof Promise
      ? name.then((known) => this.#submit(wishes, known, publication))
      : this.#submit(wishes, name, publication)
  }

  #submit(
    wishes: readonly Wish[],
    name: Answer<PublishName> | 'taken-over' | undefined,
    publication: Publication,
  ): Outcome | Promise<Outcome> {
    if (name === 'taken-over') return 'taken-over'
    if (name !== undefined && isFault(name)) return this.#unread(name, publication)
    const [wish] = wishes
    if (wish === undefined) return undefined
    if (wishes.length === 1) return this.#tried(wish, name, publication)
    return this.#allTried(wishes, name, publication)
  }

  async #allTried(
    wishes: readonly Wish[],
    name: PublishName | undefined,
    publication: Publication,
  ): Promise<Fault | undefined> {
    for (const [index, wish] of wishes.entries()) {
      const refusal = await this.#tried(wish, name && nthOf(name, index), publication)
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
    name: PublishName | undefined,
    publication: Publication,
  ): Fault | undefined | Promise<Fault | undefined> {
    const { channelId, password } = this.#client
    const { requests, submissions } = this.#ports
    const { topic, qos } = publication
    const { intent } = wish
    const said = intent.model === 'message' && saidOf(publication)
    const fields = { ...said, ...wish.fields, channel_id: channelId, password }
    const made = name && madeFrom(name)
    if (name !== undefined) this.#noteOwn(name.opId)
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
  #nameOf(
    publication: Publication,
    receivedAtMs: number,
  ): Answer<PublishName> | Promise<PublishName | 'taken-over'> {
    const { opId, packetId } = publication
    const { remembered } = this.#client
    if (opId === undefined && remembered !== undefined && packetId > 0) {
      return remembered.nameOf(publication).then((known) => known ?? 'taken-over')
    }
    if (opId === undefined) return { opId: operationIdFrom(receivedAtMs, this.#ports.newHex32()) }
    const chosen = parseOperationId(opId)
    if (chosen !== undefined) return { opId: chosen, mayRepeat: true }
    const detail = `the user property op_id ${OPERATION_ID_RULE}`
    return fault('validation_failed', { field: 'op_id', detail })
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

const isBusy = ({ code }: Fault): boolean => CATEGORY[STATUS[code]] === 'too_busy'

/** Returns the fields of a Message that its properties set; its payload overrides them. */
const saidOf = ({ opId, expirySeconds = 0 }: Publication): Readonly<Record<string, unknown>> => ({
  ...(opId !== undefined && { op_id: opId }),
  ...(expirySeconds > 0 && { ttl: Math.min(expirySeconds, TTL_MAX_MS / 1_000) }),
})

/** The same for the same op_id: a submission that comes again is the same. */
const madeFrom = (name: PublishName): MadeIds => ({
  ...name,
  entityHex: () => hash('sha256', name.opId, 'hex').slice(0, 32),
})

/** A publish of several submissions has an op_id for each. */
const nthOf = (name: PublishName, index: number): PublishName => {
  const opId = index === 0 ? undefined : parseOperationId(`${name.opId}:${index}`)
  return opId === undefined ? name : { ...name, opId }
}
