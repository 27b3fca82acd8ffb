// Asks the other processes for an operation that one of them accepted and nobody has applied yet.
//
// Invariants:
//   inquiry/1. A question ends with the operation, or after ASK_MS. Every process answers, also
//     when it does not know the operation.
//   inquiry/2. Open questions are bounded; the inquiry does not send one beyond the bound.
//   inquiry/3. The result is "nobody knows it" only after every live process has answered so. A
//     process that nobody has heard from for GONE_AFTER_MS counts as gone.
//   inquiry/4. Processes know each other before they ask: each one introduces itself when it begins
//     to answer, after each reconnection and to a newcomer. That may get lost, so it does so again
//     every INTRODUCE_EVERY_MS.
//   inquiry/5. An answer names the processes that its sender has heard from. So an asker also waits
//     for one whose introduction it has missed.

import type { Msg, Subscription } from '@nats-io/transport-node'
import { parseChannelId, parseOperationId } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import { SUBMISSION_MODELS, parseEntityId } from '#domain/submission'

import { isCount, recordFrom, recordOf } from '#domain/record'
import type { NatsLink } from './connection.ts'
import type { Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { MonotonicMs } from './timers.ts'

export interface InquiryPorts {
  readonly connection: NatsLink
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
  readonly entropy: Runtime['entropy']
}

const PREFIX = 'heliograph'
const ASK_MS = 300
const ASKED_MAX = 1000
const GONE_AFTER_MS = 10_000
const INTRODUCE_EVERY_MS = 2_000

type Find = (opId: OperationId) => Operation | undefined

/** An operation, or `unasked` when a process may not have received the question. */
type Found = Operation | 'unasked' | undefined

interface Question {
  /** The processes that have answered that they do not know the operation. */
  readonly ignorant: Set<string>
  /** The processes that these have heard from. (inquiry/5) */
  readonly named: Set<string>
  readonly end: (found: Found) => void
}

/** Asks the other processes, and answers their questions. */
export class StatusInquiry {
  readonly #ports: InquiryPorts
  readonly #subject: string
  readonly #id: string
  readonly #inbox: string
  readonly #asked = new Map<string, Question>()
  /** When this process last heard from each other one. (inquiry/3) */
  readonly #others = new Map<string, number>()
  readonly #subscriptions: Subscription[] = []
  #stopListening: () => void = () => {}
  #stopIntroducing: () => void = () => {}
  #count = 0

  constructor(ports: InquiryPorts, prefix = PREFIX) {
    this.#ports = ports
    this.#subject = `${prefix}.status`
    this.#id = ports.entropy(12).toString('hex')
    this.#inbox = `_INBOX.${this.#id}`
    this.#subscribe(`${this.#inbox}.*`, (message) => this.#onAnswer(message))
    this.#subscribe(`${this.#subject}.left`, (message) => this.#others.delete(message.string()))
  }

  /** Begins to answer the questions of other processes from `find`. */
  answer(find: Find): void {
    this.#subscribe(this.#subject, (message) => {
      const opId = parseOperationId(message.string())
      message.respond(this.#answer(opId === undefined ? undefined : find(opId)))
    })
    this.#subscribe(`${this.#subject}.joined`, (message) => {
      const isNewcomer = !this.#others.has(message.string())
      this.#hear(message.string())
      if (isNewcomer) this.#introduce() // inquiry/4
    })
    this.#introduceAlways()
    this.#stopListening = this.#ports.connection.onReconnect(() => this.#introduce())
  }

  /**
   * Returns the operation as another process knows it; undefined when every process answered that
   * it does not know it; `unasked` when one may not have received the question. (inquiry/1,
   * inquiry/2, inquiry/3)
   */
  ask(opId: OperationId): Promise<Found> {
    const { connection, timers } = this.#ports
    const isFull = this.#asked.size >= ASKED_MAX // inquiry/2
    if (!connection.isConnected || isFull) return Promise.resolve('unasked')
    this.#count += 1
    const token = this.#count.toString(36)
    const { promise, resolve } = Promise.withResolvers<Found>()
    const cancel = timers.after(ASK_MS, () => question.end(this.#onTimeout(question)))
    const question: Question = {
      ignorant: new Set(),
      named: new Set(),
      end: (found) => {
        this.#asked.delete(token)
        cancel()
        resolve(found)
      },
    }
    this.#asked.set(token, question)
    connection.nats.publish(this.#subject, opId, { reply: `${this.#inbox}.${token}` })
    return promise
  }

  /** Stops asking and answering. The connection stays open. */
  close(): void {
    this.#stopListening()
    this.#stopIntroducing()
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    for (const { end } of this.#asked.values()) end('unasked')
    const { connection } = this.#ports
    if (connection.isConnected) connection.nats.publish(`${this.#subject}.left`, this.#id)
  }

  /** inquiry/4 */
  #introduceAlways(): void {
    this.#introduce()
    const again = (): void => this.#introduceAlways()
    this.#stopIntroducing = this.#ports.timers.after(INTRODUCE_EVERY_MS, again)
  }

  #introduce(): void {
    const { connection } = this.#ports
    if (connection.isConnected) connection.nats.publish(`${this.#subject}.joined`, this.#id)
  }

  /** Returns the result when no process has answered in time with the operation. (inquiry/3) */
  #onTimeout(question: Question): Found {
    return this.#isAnswerMissing(question) || question.ignorant.size === 0 ? 'unasked' : undefined
  }

  /** True when a process that is known, and not gone, has not answered. (inquiry/3, inquiry/5) */
  #isAnswerMissing({ ignorant, named }: Question): boolean {
    const known = [...this.#live(), ...named]
    return known.some((other) => other !== this.#id && !ignorant.has(other))
  }

  /** Returns the other processes that this one has heard from of late. (inquiry/3) */
  #live(): string[] {
    const goneBefore = this.#ports.monotonicMs() - GONE_AFTER_MS
    for (const [other, heardAt] of this.#others) {
      if (heardAt <= goneBefore) this.#others.delete(other)
    }
    return [...this.#others.keys()]
  }

  #hear(other: string): void {
    this.#others.set(other, this.#ports.monotonicMs())
  }

  /** inquiry/5 */
  #answer(operation: Operation | undefined): string {
    return JSON.stringify({ sender: this.#id, others: this.#live(), operation })
  }

  #subscribe(subject: string, take: (message: Msg) => void): void {
    const callback = (error: Error | null, message: Msg): void => {
      if (error === null) take(message)
    }
    this.#subscriptions.push(this.#ports.connection.nats.subscribe(subject, { callback }))
  }

  #onAnswer(message: Msg): void {
    const question = this.#asked.get(message.subject.slice(this.#inbox.length + 1))
    // The server itself answers with no data when no other process has subscribed: there is
    // none, or it is about to connect again. (inquiry/3)
    if (message.data.length === 0) {
      return question?.end(this.#isAnswerMissing(question) ? 'unasked' : undefined)
    }
    const { sender, others, operation } = recordFrom(message.string())
    if (typeof sender !== 'string') return question?.end('unasked')
    this.#hear(sender)
    if (operation !== undefined) return question?.end(readOperation(operation) ?? 'unasked')
    question?.ignorant.add(sender)
    for (const other of Array.isArray(others) ? others : []) question?.named.add(String(other))
    return undefined
  }
}

/**
 * Reads an operation that another process sent: always an accepted one, since nobody has applied
 * it. Gives undefined for anything else.
 */
export function readOperation(sent: unknown): Operation | undefined {
  const { opId, channelId, entityId, model, acceptedAt, updatedAt } = recordOf(sent) ?? {}
  const known = SUBMISSION_MODELS.find((name) => name === model)
  if (known === undefined || !isCount(acceptedAt) || !isCount(updatedAt)) return undefined
  const operation = parseOperationId(String(opId))
  const channel = parseChannelId(String(channelId))
  const entity = parseEntityId(known, entityId)
  if (operation === undefined || channel === undefined || entity === undefined) return undefined
  const ids = { opId: operation, channelId: channel, entityId: entity }
  return { ...ids, model: known, status: 'accepted', acceptedAt, updatedAt }
}
