// Submits what one client publishes, through the acceptance stage.
//
// Invariants:
//   mqtt-publisher/1. A publish has one effect, however often it is tried: its op_id is made once.
//   mqtt-publisher/2. A client that cannot be told that the gateway is busy waits for its answer:
//                     its publish is tried again until it is in the log or refused.
//   mqtt-publisher/3. A defect in the reading of a publish refuses that publish and ends nothing.
//   mqtt-publisher/4. What a publish has taught is forgotten when it is refused for what it is.
//                     When the client is gone all is forgotten, after its will if it leaves one.

import type { StoredKey } from '#domain/channel-keys'
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
import type { Presentations } from '#src/acceptance/history/presentations'
import type { MadeIds, Submissions } from '#src/acceptance/submissions'
import type { Arrival, DoorRequests } from '#src/doors/door-requests'
import { CATEGORY, STATUS, lineOf } from '#src/refusals/refusal'
import type { Mapping } from '#src/schemas/mappings/mapping'
import { OPERATION_ID_RULE } from '#src/schemas/values'
import type { ProtocolLevel } from './codec.ts'
import { OwnOpIds, madeFrom, nthOf, saidOf } from './op-ids.ts'
import type { Publication } from './publishes.ts'
import type { Remembered } from './remembered.ts'
import type { OwnPublishes } from './subscriber.ts'
import { FamilyState } from '#src/mqtt/devices/family-state'
import type { StateBudget } from '#src/mqtt/devices/family-state'
import type { Reply, Translation, Wish } from '#src/mqtt/devices/publish'
import { translate } from '#src/mqtt/devices/translate'

export interface PublisherPorts {
  readonly requests: Pick<DoorRequests, 'answer'>
  readonly submissions: Pick<Submissions, 'submit'>
  readonly mappings: Pick<Mappings, 'of' | 'unmapped'>
  readonly presentation: Pick<Presentations, 'discovered'>
  readonly runtime: Pick<Runtime, 'nowMs' | 'wait'>
  readonly newHex32: () => string
  readonly logger: Pick<Logger, 'debug'>
  /** The memory that all clients share for what their devices say of later publishes. */
  readonly states: StateBudget
  /** Counts a publish at QoS 0 that the gateway was too busy for. */
  readonly lost: () => void
}

/** The client behind the publishes. Its password is a secret. */
interface PublishingClient {
  readonly channelId: ChannelId
  /** The password of the channel, or a key. */
  readonly password: string
  /** The key that the password is; undefined for that of the channel. */
  readonly key: StoredKey | undefined
  readonly address: string
  readonly level: ProtocolLevel
  /** The Thing of publishes whose topics name none. */
  readonly thingId: string
  /** The exchanges of a kept session. */
  readonly remembered: Pick<Remembered, 'begin' | 'keep'> | undefined
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

/** A submission under way. */
interface Sent extends Pick<Publication, 'topic' | 'qos'> {
  readonly submit: () => ReturnType<Submissions['submit']>
}

const UNMAPPED_RULE =
  'nothing maps this topic: /channel/mappings can, and docs/mqtt.md lists those that do'
const UNMAPPED = fault('route_not_found', { field: 'topic', detail: UNMAPPED_RULE })
/** The credentials were counted when the session began. */
const GUARD: Guard = { token: 'none', budget: 'none' }
const RETRY_AFTER_MS = 1_000
/** Stands for the newer connection that has the session. */
const TAKEN_OVER = fault('submission_not_accepted')

export class Publisher implements OwnPublishes {
  readonly #ports: PublisherPorts
  readonly #client: PublishingClient
  readonly #arrival: Arrival
  #isOver = false
  /** What earlier publishes said about later ones. */
  readonly #state: FamilyState
  readonly #own = new OwnOpIds()

  constructor(ports: PublisherPorts, client: PublishingClient) {
    this.#ports = ports
    this.#client = client
    this.#state = new FamilyState(ports.states)
    this.#arrival = { guard: GUARD, peer: { address: client.address }, authorization: '' }
  }

  /** Stops trying again: the client is gone, and left a will or none. */
  end(will: Publication | undefined): void {
    this.#isOver = true
    if (will === undefined) this.close()
  }

  /** Forgets what publishes said of later ones. Called when a will is not published either. */
  close(): void {
    this.#state.clear() // mqtt-publisher/4
  }

  remember(): void {
    this.#own.remember()
  }

  has(opId: OperationId): boolean {
    return this.#own.has(opId)
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
    const read = this.#translated(publication, mappings, receivedAtMs)
    if (this.#isOver) this.close() // mqtt-publisher/4
    if (isFault(read)) return read
    for (const reply of read.replies) this.#client.reply(reply)
    const outcome = this.submit(read.wishes, publication, receivedAtMs)
    return read.forget === undefined ? outcome : this.#taught(outcome, read)
  }

  /** What a publish becomes, or its refusal, which has been counted. */
  #translated(
    publication: Publication,
    mappings: readonly Mapping[],
    receivedAtMs: number,
  ): Answer<Translation> {
    const { topic, payload } = publication
    const { thingId, channelId, key } = this.#client
    const connection = { sender: { thingId, mappings, key }, state: this.#state }
    try {
      const read = translate({ topic, payload, receivedAtMs }, connection)
      if (read !== undefined && !isFault(read)) return read
      if (read === undefined) this.#ports.mappings.unmapped(channelId, topic, receivedAtMs)
      return this.#unread(() => read ?? UNMAPPED, publication)
    } catch (error) {
      return this.#unread(() => Promise.reject(error), publication) // mqtt-publisher/3
    }
  }

  /** mqtt-publisher/4 */
  #taught(outcome: Outcome | Promise<Outcome>, read: Translation): Outcome | Promise<Outcome> {
    if (outcome instanceof Promise) return outcome.then((later) => this.#taught(later, read))
    if (isFault(outcome) && !isBusy(outcome)) read.forget?.()
    if (outcome === undefined && read.discovered !== undefined) {
      this.#ports.presentation.discovered(this.#client, read.discovered)
    }
    return outcome
  }

  /**
   * Reads a will by what this connection has said, as of the time at which it is due; undefined
   * when it is refused.
   */
  async bequest(will: Publication, dueMs: number): Promise<Bequest | undefined> {
    const mappings = await this.#ports.mappings.of(this.#client.channelId)
    const read = this.#translated(will, mappings, dueMs)
    this.close() // mqtt-publisher/4
    if (isFault(read)) return undefined
    const client = { ...this.#client, remembered: undefined, reply: () => {} }
    const heir = new Publisher(this.#ports, client)
    heir.end(undefined)
    return { wishes: read.wishes, heir }
  }

  /** Submits what a publish has become, under an op_id where it needs one. */
  submit(
    wishes: readonly Wish[],
    publication: Publication,
    receivedAtMs: number,
  ): Outcome | Promise<Outcome> {
    const isNamed = publication.qos > 0 || this.#own.isAsked
    const made = isNamed ? this.#idsOf(publication, receivedAtMs) : undefined
    if (isFault(made)) return this.#unread(() => made, publication)
    const [wish] = wishes
    if (wish === undefined) return undefined
    if (wishes.length === 1) return this.#tried(wish, made, publication)
    return this.#allTried(wishes, made, publication)
  }

  async #allTried(
    wishes: readonly Wish[],
    made: MadeIds | undefined,
    publication: Publication,
  ): Promise<Outcome> {
    for (const [index, wish] of wishes.entries()) {
      const own = made && madeFrom(nthOf(made.opId, index), made)
      const refusal = await this.#tried(wish, own, publication)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  #tried(
    wish: Wish,
    made: MadeIds | undefined,
    publication: Publication,
  ): Outcome | Promise<Outcome> {
    const { channelId, password } = this.#client
    const { requests, submissions } = this.#ports
    const { topic, qos } = publication
    const { intent } = wish
    const said = intent.model === 'message' && saidOf(publication)
    const fields = { ...said, ...wish.fields, channel_id: channelId, password }
    if (made !== undefined) this.#own.note(made.opId)
    const submit = (): ReturnType<Submissions['submit']> =>
      requests.answer(this.#arrival, (caller) => submissions.submit(intent, fields, caller, made))
    const answer = submit()
    if (!(answer instanceof Promise)) return this.#answered(answer, { topic, qos, submit })
    return answer.then((later) => this.#answered(later, { topic, qos, submit }))
  }

  #answered(answer: Answer<unknown>, { submit, ...sent }: Sent): Outcome | Promise<Outcome> {
    if (!isFault(answer)) return undefined
    if (answer === TAKEN_OVER) return 'taken-over'
    if (!this.#waits(answer, sent)) return this.#refused(answer, sent)
    return this.#triedAgain(answer, { submit, ...sent })
  }

  /** mqtt-publisher/2 */
  #waits(refusal: Fault, { qos }: Pick<Sent, 'qos'>): boolean {
    return this.#client.level === 4 && qos > 0 && isBusy(refusal) && !this.#isOver
  }

  async #triedAgain(refusal: Fault, { submit, ...sent }: Sent): Promise<Outcome> {
    let last = refusal
    while (this.#waits(last, sent)) {
      await this.#ports.runtime.wait(last.retryAfterMs ?? RETRY_AFTER_MS)
      const answer = await submit()
      if (!isFault(answer)) return undefined
      if (answer === TAKEN_OVER) return 'taken-over'
      last = answer
    }
    return this.#refused(last, sent)
  }

  /** mqtt-publisher/1 */
  #idsOf(publication: Publication, receivedAtMs: number): MadeIds | Fault {
    const { opId, packetId } = publication
    const { remembered } = this.#client
    if (opId === undefined && remembered !== undefined && packetId > 0) {
      const begun = remembered.begin(publication)
      const keep = async () => ((await remembered.keep(begun)) ? undefined : TAKEN_OVER)
      return madeFrom(begun.opId, begun.mayRepeat ? { keep, mayRepeat: true } : { keep })
    }
    if (opId === undefined) return madeFrom(operationIdFrom(receivedAtMs, this.#ports.newHex32()))
    const parsed = parseOperationId(opId)
    const detail = `the user property op_id ${OPERATION_ID_RULE}`
    return parsed
      ? madeFrom(parsed, { mayRepeat: true })
      : fault('validation_failed', { field: 'op_id', detail })
  }

  /** Counts the refusal of a publish that is no submission, as every refusal and every defect. */
  #unread(refuse: () => Fault | Promise<never>, publication: Publication): Fault {
    const refusal = this.#ports.requests.answer<never>(this.#arrival, refuse)
    return this.#refused(isFault(refusal) ? refusal : fault('internal_error'), publication)
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
