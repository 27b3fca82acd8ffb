// The last steps of every submission: the channel's password, then the log. (W1)

import { isFault } from '#domain/fault'
import type { Answer, NowMs, SubmissionSink } from '#domain/ports'
import { MODELS } from '#domain/submission'
import type { Model, Submission } from '#domain/submission'
import type { Meter } from '#domain/telemetry'
import type { Credentials } from './credentials.ts'

/** Hands submissions to the log and counts those that it has. */
export interface Acceptance {
  /** The answer of the handed once it is durable, or the refusal. */
  accept(handed: Handed): Promise<Answer<object>>
  /** Counts a submission that was answered without being handed on again. */
  count(model: Model, receivedAtMs: number): void
}

/** A submission on its way into the log. */
export interface Handed {
  readonly submission: Submission
  readonly receivedAtMs: number
  /** What its sender is told once it is durable. */
  readonly answer: object
}

/** What every route that takes submissions needs. */
export interface SubmitPorts {
  readonly credentials: Credentials
  readonly acceptance: Acceptance
  readonly newHex32: () => string
}

export interface AcceptancePorts {
  readonly sink: SubmissionSink
  readonly meter: Meter
  readonly nowMs: NowMs
}

export function createAcceptance({ sink, meter, nowMs }: AcceptancePorts): Acceptance {
  const accepted = new Map(
    MODELS.map((model) => [model, meter.counter('accepted_total', { model })] as const),
  )
  const seconds = meter.histogram('accept_seconds', {})
  const count = (model: Model, receivedAtMs: number): void => {
    accepted.get(model)?.()
    seconds((nowMs() - receivedAtMs) / 1000)
  }
  return {
    count,
    accept: ({ submission, receivedAtMs, answer }) =>
      sink.accept(submission).then((outcome) => {
        if (isFault(outcome)) return outcome
        count(submission.model, receivedAtMs)
        return answer // W1: nothing is answered before this
      }),
  }
}

export interface Admission {
  readonly handed: Handed
  /** A secret: goes no further than the comparison. */
  readonly password: string
}

/** Opens the channel and appends. The answer once the submission is durable, or the refusal. */
export function admit(
  { credentials, acceptance }: SubmitPorts,
  { handed, password }: Admission,
): Answer<object> | Promise<Answer<object>> {
  const append = (opened: Answer<object>): Answer<object> | Promise<Answer<object>> =>
    isFault(opened) ? opened : acceptance.accept(handed)
  const opened = credentials.check(handed.submission.channelId, password)
  return opened instanceof Promise ? opened.then(append) : append(opened)
}
