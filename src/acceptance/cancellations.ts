// Takes back a Message that waits for its time. The log decides whether it was early enough, so the
// answer waits until the cancellation is applied. (Specification: Rules and time)

import { fault, isFault } from '#domain/fault'
import { operationIdFrom } from '#domain/identity'
import type { MessageId } from '#domain/identity'
import type { KeptOperation, Operation, OperationStatus } from '#domain/operation'
import type { Answer } from '#domain/ports'
import { CANCELLATION } from '#src/schemas/message-schemas'
import { readersOf } from '#src/schemas/shape'
import type { RequestOf } from '#src/schemas/shape'
import type { Caller } from './caller.ts'
import type { Stage } from './stage.ts'
import type { Submissions } from './submissions.ts'

const READ = readersOf(CANCELLATION)

type CancellationRequest = RequestOf<typeof READ.cancel>

/** Looks whether a cancellation is applied: pauses that grow, five seconds together. */
const LOOKS = 60
const PAUSE_MS_MAX = 100

const NOT_FOUND = fault('send_status_not_found')
const WENT = fault('message_already_sent')
const BUSY = fault('server_busy', { retryAfterMs: 1_000 })

export class Cancellations {
  readonly #ports: Stage & { readonly submissions: Submissions }

  constructor(ports: Stage & { readonly submissions: Submissions }) {
    this.#ports = ports
  }

  /**
   * Returns the record of the Message once it is cancelled, also when it was before;
   * message_already_sent when it went, server_busy when its lane does not go on now.
   */
  async cancel(fields: unknown, caller: Caller): Promise<Answer<KeptOperation>> {
    const opened = await this.#ports.access.open({
      fields,
      caller,
      read: READ.cancel,
      scope: 'send',
      isWhole: true,
      hasMore: true,
    })
    if (isFault(opened)) return opened
    const { request } = opened
    const found = await this.#message(request)
    if (found === undefined) return caller.refusal ?? NOT_FOUND
    const cancelled = verdictOn(found) ?? (await this.#append(request, found, caller))
    if (isFault(cancelled)) return cancelled
    return { ...cancelled, expiresAt: cancelled.acceptedAt + this.#ports.statusRetentionMs }
  }

  async #append(
    request: CancellationRequest,
    { entityId }: Operation,
    caller: Caller,
  ): Promise<Answer<Operation>> {
    const { submissions, newHex32 } = this.#ports
    const { channelId, cancels } = request
    const acceptedAt = caller.receivedAtMs
    const opId = operationIdFrom(acceptedAt, newHex32())
    const ids = { opId, channelId, entityId: entityId as MessageId, cancels }
    const submission = { model: 'cancellation', action: 'cancel', acceptedAt, ...ids } as const
    const accepted = await submissions.append(submission, caller)
    if (isFault(accepted)) return accepted
    await this.#untilApplied(opId)
    const operation = await this.#message(request)
    if (operation === undefined) return NOT_FOUND
    return verdictOn(operation) ?? BUSY
  }

  async #untilApplied(opId: Operation['opId']): Promise<void> {
    const { sink, timers } = this.#ports
    for (let look = 1; look <= LOOKS && sink.find(opId) !== undefined; look += 1) {
      const pauseMs = Math.min(5 * look, PAUSE_MS_MAX)
      await new Promise<void>((resolve) => timers.after(pauseMs, resolve))
    }
  }

  /** The operation, when it is a Message of the channel. */
  async #message({ channelId, cancels }: CancellationRequest): Promise<Operation | undefined> {
    const { sink, operations } = this.#ports
    const operation = sink.find(cancels) ?? (await operations.find(cancels))
    const isOfChannel = operation?.channelId === channelId && operation.model === 'message'
    return isOfChannel ? operation : undefined
  }
}

/** The answer for an operation; undefined while it may still be cancelled. */
function verdictOn(operation: Operation): Answer<Operation> | undefined {
  if (operation.status === 'cancelled') return operation
  return WAITING.has(operation.status) ? undefined : WENT
}

const WAITING: ReadonlySet<OperationStatus> = new Set(['accepted', 'processing', 'scheduled'])
