// Asks the other processes for an operation that one of them accepted and nobody has applied yet.
//
// Invariants:
//   Q1. A question has an end: an answer, or ASK_MS. Only who knows the operation answers.
//   Q2. Questions under way are bounded; one beyond the bound goes unasked.

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

import { recordOf } from './acknowledgement.ts'
import type { Line } from './connection.ts'
import type { Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'

export interface InquiryPorts {
  readonly connection: Line
  readonly timers: Timers
  readonly entropy: Runtime['entropy']
}

const PREFIX = 'heliograph'
const ASK_MS = 300
const ASKED_MAX = 1000

type Find = (opId: OperationId) => Operation | undefined

/** Both sides: asks others, and answers them. */
export class StatusInquiry {
  readonly #ports: InquiryPorts
  readonly #subject: string
  readonly #inbox: string
  readonly #asked = new Map<string, (operation: Operation | undefined) => void>()
  readonly #subscriptions: Subscription[] = []
  #count = 0

  constructor(ports: InquiryPorts, prefix = PREFIX) {
    this.#ports = ports
    this.#subject = `${prefix}.status`
    this.#inbox = `_INBOX.${ports.entropy(12).toString('hex')}`
    this.#listen(`${this.#inbox}.*`, (message) => this.#onAnswer(message))
  }

  /** Answers others from now on with what `find` gives. */
  answer(find: Find): void {
    this.#listen(this.#subject, (message) => {
      const opId = parseOperationId(message.string())
      const operation = opId === undefined ? undefined : find(opId)
      if (operation !== undefined) message.respond(JSON.stringify(operation))
    })
  }

  /** What another process knows of the operation; undefined when none says so in time. (Q1) */
  ask(opId: OperationId): Promise<Operation | undefined> {
    const { connection, timers } = this.#ports
    const isFull = this.#asked.size >= ASKED_MAX // Q2
    if (!connection.isConnected || isFull) return Promise.resolve(undefined)
    this.#count += 1
    const token = this.#count.toString(36)
    return new Promise((resolve) => {
      const cancel = timers.after(ASK_MS, () => this.#asked.get(token)?.(undefined))
      this.#asked.set(token, (operation) => {
        this.#asked.delete(token)
        cancel()
        resolve(operation)
      })
      connection.nats.publish(this.#subject, opId, { reply: `${this.#inbox}.${token}` })
    })
  }

  /** Neither asks nor answers any more. The connection stays. */
  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    for (const settle of this.#asked.values()) settle(undefined)
  }

  #listen(subject: string, take: (message: Msg) => void): void {
    const callback = (error: Error | null, message: Msg): void => {
      if (error === null) take(message)
    }
    this.#subscriptions.push(this.#ports.connection.nats.subscribe(subject, { callback }))
  }

  /** An empty answer is the server's own: nobody else is there. */
  #onAnswer(message: Msg): void {
    const settle = this.#asked.get(message.subject.slice(this.#inbox.length + 1))
    const operation = message.data.length === 0 ? undefined : readOperation(message.string())
    settle?.(operation)
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
