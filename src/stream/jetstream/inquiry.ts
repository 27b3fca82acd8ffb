// Asks the other processes for an operation that one of them accepted and nobody has applied yet.
//
// Invariants:
//   inquiry/1. A question ends with the operation, or after ASK_MS. Every process answers, also
//     that it does not know the operation.
//   inquiry/2. Open questions are bounded; one beyond the bound is not sent.
//   inquiry/3. "Nobody knows it" is the answer only when every live process has said so. One that
//     is silent for GONE_AFTER_MS counts as gone.

import type { Msg, Subscription } from '@nats-io/transport-node'
import {
  parseChannelId,
  parseEventId,
  parseMessageId,
  parseOperationId,
  parseThingId,
} from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import { MODELS } from '#domain/submission'

import { recordOf } from './record.ts'
import type { Line } from './connection.ts'
import type { Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'

export interface InquiryPorts {
  readonly connection: Line
  readonly timers: Timers
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number
  readonly entropy: Runtime['entropy']
}

const PREFIX = 'heliograph'
const ASK_MS = 300
const ASKED_MAX = 1000
const GONE_AFTER_MS = 10_000

type Find = (opId: OperationId) => Operation | undefined

/** An operation, or `unasked` when the others may not have heard the question. */
type Found = Operation | 'unasked' | undefined

interface Question {
  /** The processes that have said that they do not know it. */
  readonly strangers: Set<string>
  readonly settle: (found: Found) => void
}

/** Both sides: asks others, and answers them. */
export class StatusInquiry {
  readonly #ports: InquiryPorts
  readonly #subject: string
  readonly #id: string
  readonly #inbox: string
  readonly #asked = new Map<string, Question>()
  /** Every process that has ever answered, and the beginning of its silence. (inquiry/3) */
  readonly #others = new Map<string, number | undefined>()
  readonly #subscriptions: Subscription[] = []
  #count = 0

  constructor(ports: InquiryPorts, prefix = PREFIX) {
    this.#ports = ports
    this.#subject = `${prefix}.status`
    this.#id = ports.entropy(12).toString('hex')
    this.#inbox = `_INBOX.${this.#id}`
    this.#listen(`${this.#inbox}.*`, (message) => this.#onAnswer(message))
    this.#listen(`${this.#subject}.left`, (message) => this.#others.delete(message.string()))
  }

  /** Answers others from now on with the operations that `find` gives. */
  answer(find: Find): void {
    this.#listen(this.#subject, (message) => {
      const opId = parseOperationId(message.string())
      const operation = opId === undefined ? undefined : find(opId)
      message.respond(JSON.stringify(operation ?? { stranger: this.#id }))
    })
  }

  /**
   * The operation as another process knows it; undefined when all of them say that they do not know
   * it, `unasked` when one may not have heard the question. (inquiry/1, inquiry/2,
   * inquiry/3)
   */
  ask(opId: OperationId): Promise<Found> {
    const { connection, timers } = this.#ports
    const isFull = this.#asked.size >= ASKED_MAX // inquiry/2
    if (!connection.isConnected || isFull) return Promise.resolve('unasked')
    this.#count += 1
    const token = this.#count.toString(36)
    const { promise, resolve } = Promise.withResolvers<Found>()
    const strangers = new Set<string>()
    const cancel = timers.after(ASK_MS, () => question.settle(this.#silence(strangers)))
    const question: Question = {
      strangers,
      settle: (found) => {
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
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    for (const { settle } of this.#asked.values()) settle('unasked')
    const { connection } = this.#ports
    if (connection.isConnected) connection.nats.publish(`${this.#subject}.left`, this.#id)
  }

  /** The result when no process has answered in time that it knows the operation. (inquiry/3) */
  #silence(strangers: ReadonlySet<string>): Found {
    const now = this.#ports.monotonicMs()
    let isMissing = strangers.size === 0
    for (const [other, silentSince = now] of this.#others) {
      if (strangers.has(other)) continue
      isMissing = true
      if (now - silentSince >= GONE_AFTER_MS) this.#others.delete(other)
      else this.#others.set(other, silentSince)
    }
    return isMissing ? 'unasked' : undefined
  }

  #listen(subject: string, take: (message: Msg) => void): void {
    const callback = (error: Error | null, message: Msg): void => {
      if (error === null) take(message)
    }
    this.#subscriptions.push(this.#ports.connection.nats.subscribe(subject, { callback }))
  }

  #onAnswer(message: Msg): void {
    const question = this.#asked.get(message.subject.slice(this.#inbox.length + 1))
    // The server's own empty answer: nobody else is there.
    if (message.data.length === 0) return question?.settle(undefined)
    const text = message.string()
    const stranger = recordOf(parse(text))?.['stranger']
    if (typeof stranger !== 'string') return question?.settle(readOperation(text) ?? 'unasked')
    this.#others.set(stranger, undefined)
    question?.strangers.add(stranger)
    return undefined
  }
}

/** An operation that is accepted and nothing more, as another process wrote it. */
export function readOperation(text: string): Operation | undefined {
  const sent = recordOf(parse(text)) ?? {}
  const { opId, channelId, entityId, model, acceptedAt, updatedAt } = sent
  const known = MODELS.find((name) => name === model)
  if (known === undefined || !isTime(acceptedAt) || !isTime(updatedAt)) return undefined
  const operation = parseOperationId(String(opId))
  const channel = parseChannelId(String(channelId))
  const entity = ENTITY_ID[known](String(entityId))
  if (operation === undefined || channel === undefined || entity === undefined) return undefined
  const ids = { opId: operation, channelId: channel, entityId: entity }
  return { ...ids, model: known, status: 'accepted', acceptedAt, updatedAt }
}

const ENTITY_ID = { message: parseMessageId, event: parseEventId, thing: parseThingId } as const

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
