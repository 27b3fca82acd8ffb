// Takes every submission: checks its form, opens the channel, settles its op_id, and appends it.
//
// Invariants:
//   W1. A submission is answered as accepted only after the log has it.
//   submissions/1. The refusal of a draining or full way in comes after every other one.
//   submissions/2. What a way in keeps of a submission it keeps after every check: a caller that is
//                  refused makes it write nothing.
//   submissions/3. What opened the channel is proven once more after a wait for the store: its end
//                  may have been answered meanwhile.

import type { StoredKey } from '#domain/channel-keys'
import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { OperationId } from '#domain/identity'
import { SUBMISSION_MODELS } from '#domain/submission'
import type { Submission, SubmissionModel } from '#domain/submission'
import { readAcknowledge, readEvent, readNamedEvent } from '#src/schemas/event'
import { readMessage } from '#src/schemas/message'
import { readRuleSubmission } from '#src/schemas/rules/rule-requests'
import type { Making, ReadSubmission } from '#src/schemas/submission'
import { readThing } from '#src/schemas/thing'
import type { Named } from './access-checks.ts'
import type { Caller } from './caller.ts'
import type { OpenChannel, Opened } from './channel-access.ts'
import type { Accepted, Intent } from './intent.ts'
import { allowed, signed } from './key-rights.ts'
import type { MessageClaims } from './message-claims.ts'
import type { Stage } from './stage.ts'

/**
 * Ids that a way in has made for a submission that it may hand over again: the log may have it
 * twice, and it has one effect. (turn-records/5)
 */
export interface MadeIds {
  readonly opId: OperationId
  /** Set when the way in knows that it may have handed it over already. */
  readonly mayRepeat?: true
  /** Returns the 32 lower-case hex characters of the entity's id, where it has no other. */
  readonly entityHex: () => string
  /** Keeps them for a later try, before the log has the submission; gives its refusal, if any. */
  readonly keep?: (() => Promise<Fault | undefined>) | undefined
}

/** The caller of a submission, with its secret and the ids that its way in has made. */
interface Submitter {
  readonly caller: Caller
  readonly password: string
  readonly made: MadeIds | undefined
}

export class Submissions {
  readonly #ports: Stage & { readonly claims: MessageClaims }
  readonly #accepted: ReadonlyMap<SubmissionModel, (by?: number) => void>
  readonly #seconds: (value: number) => void

  constructor(ports: Stage & { readonly claims: MessageClaims }) {
    this.#ports = ports
    const { meter } = ports
    const countOf = (model: SubmissionModel) => meter.counter('accepted_total', { model })
    this.#accepted = new Map(SUBMISSION_MODELS.map((model) => [model, countOf(model)] as const))
    this.#seconds = meter.histogram('accept_seconds', {})
  }

  /** Submits. Accepted means durable in the log, not yet applied or delivered. */
  submit(
    intent: Intent,
    fields: unknown,
    caller: Caller,
    made?: MadeIds,
  ): Answer<Accepted> | Promise<Answer<Accepted>> {
    const nowMs = caller.receivedAtMs
    const making: Making =
      made === undefined
        ? { nowMs, newHex32: this.#ports.newHex32 }
        : { nowMs, newHex32: made.entityHex, opId: made.opId }
    const opened = this.#ports.access.open({
      fields,
      caller,
      read: (sent) => {
        const read = readSubmission(intent, sent, making)
        return isFault(read) ? read : named(read)
      },
      intent,
      scope: 'send',
      hasMore: true,
    })
    return opened instanceof Promise
      ? opened.then((outcome) => this.#enter(outcome, caller, made))
      : this.#enter(opened, caller, made)
  }

  /**
   * The refusal of a submission that the rights of a key do not allow, now or later; undefined also
   * for fields that are none, which are refused when they are submitted.
   */
  refusalBy(key: StoredKey, intent: Intent, fields: unknown): Fault | undefined {
    const { nowMs, newHex32 } = this.#ports
    const read = readSubmission(intent, fields, { nowMs: nowMs(), newHex32 })
    const submission = isFault(read) ? undefined : allowed(key, read.submission)
    return isFault(submission) ? submission : undefined
  }

  /** Takes a submission once it is known whether its channel is open. */
  #enter(
    opened: Answer<Opened<NamedSubmission>>,
    caller: Caller,
    made: MadeIds | undefined,
  ): Answer<Accepted> | Promise<Answer<Accepted>> {
    if (isFault(opened)) return opened
    const { submission: sent, password = '' } = opened.request
    const { key, deviceLabel } = opened
    const mine = deviceLabel === undefined ? sent : signed(sent, deviceLabel)
    const own = key === undefined ? mine : allowed(key, mine)
    if (isFault(own)) return this.#refused(sent, this.#ports.access.refuse(caller, own))
    const submission: Submission = made?.mayRepeat === true ? { ...own, mayRepeat: true } : own
    const isClaimed = submission.model === 'message' && submission.claimed
    if (!isClaimed && made?.keep === undefined) return this.append(submission, caller)
    return this.#later(submission, opened, { caller, made, password })
  }

  /** Takes a submission of which the store has something to say, or to keep, first. */
  async #later(
    submission: Submission,
    opened: OpenChannel,
    { caller, made, password }: Submitter,
  ): Promise<Answer<Accepted>> {
    const { claims, access } = this.#ports
    const isClaimed = submission.model === 'message' && submission.claimed
    const settled = isClaimed ? await claims.settle(submission, caller) : { submission }
    if (isFault(settled)) return this.#refused(submission, settled)
    if ('accepted' in settled) {
      this.#count('message', caller)
      return settled.accepted
    }
    if (caller.refusal !== undefined) return caller.refusal // submissions/1
    const refusal = await made?.keep?.() // submissions/2
    if (refusal !== undefined) return refusal
    if (caller.grant !== undefined) return this.append(settled.submission, caller)
    const since = await access.refusalSince(opened, password) // submissions/3
    return since ?? this.append(settled.submission, caller)
  }

  /** Appends a submission that passed every check. (W1) */
  append(submission: Submission, caller: Caller): Answer<Accepted> | Promise<Answer<Accepted>> {
    if (caller.refusal !== undefined) return caller.refusal // submissions/1
    const { model, opId, entityId } = submission // What waits for the log holds no more of it.
    return this.#ports.sink.accept(submission).then((outcome) => {
      if (isFault(outcome)) return outcome
      this.#count(model, caller)
      return { model, opId, entityId } // W1
    })
  }

  /** Keeps a refusal that comes after the channel is open. */
  #refused({ channelId, model, action }: Submission, refusal: Fault): Fault {
    this.#ports.refusals.note(channelId, { model, action }, refusal)
    return refusal
  }

  #count(model: SubmissionModel, { receivedAtMs }: Caller): void {
    this.#accepted.get(model)?.()
    this.#seconds((this.#ports.nowMs() - receivedAtMs) / 1000)
  }
}

/** A submission with the channel that its password must open. */
type NamedSubmission = Pick<ReadSubmission, 'submission'> & Named

/** The channel of a submission, and what shall open it. */
function named({ submission, password, deviceKey }: ReadSubmission): NamedSubmission {
  const { channelId } = submission
  return deviceKey === undefined
    ? { submission, channelId, password }
    : { submission, channelId, deviceKey }
}

function readSubmission(intent: Intent, fields: unknown, making: Making): Answer<ReadSubmission> {
  switch (intent.model) {
    case 'message':
      return readMessage(fields, making)
    case 'rule':
      return readRuleSubmission(intent.action, fields, making)
    case 'thing':
      return readThing(intent.action, fields, making)
    case 'event':
      if (intent.action === 'acknowledge') return readAcknowledge(fields, making)
      if ('eventId' in intent) return readNamedEvent(intent.eventId, fields, making)
      return intent.thingId === undefined
        ? readEvent(intent.action, fields, making)
        : readEvent(intent.action, fields, { ...making, pathThingId: intent.thingId })
  }
}
