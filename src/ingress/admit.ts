// The last steps of every submission: the channel's password, then the log. (W1)

import { isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { NowMs, SubmissionSink } from '#domain/ports'
import { MODELS } from '#domain/submission'
import type { Model, Submission } from '#domain/submission'
import type { Meter } from '#domain/telemetry'
import type { Credentials } from './credentials.ts'

/** Hands submissions to the log and counts those that it has. */
export interface Acceptance {
  /** The refusal, or undefined once the submission is durable. */
  accept(submission: Submission, receivedAtMs: number): Promise<Fault | undefined>
  /** Counts a submission that was answered without being handed on again. */
  count(model: Model, receivedAtMs: number): void
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
    async accept(submission, receivedAtMs) {
      const answer = await sink.accept(submission) // W1: nothing is answered before this
      if (isFault(answer)) return answer
      count(submission.model, receivedAtMs)
      return undefined
    },
  }
}

export interface Admission {
  readonly submission: Submission
  /** A secret: goes no further than the comparison. */
  readonly password: string
  readonly receivedAtMs: number
}

/** Opens the channel and appends. The refusal, or undefined once the submission is durable. */
export async function admit(
  { credentials, acceptance }: SubmitPorts,
  { submission, password, receivedAtMs }: Admission,
): Promise<Fault | undefined> {
  const opened = await credentials.check(submission.channelId, password)
  if (isFault(opened)) return opened
  return acceptance.accept(submission, receivedAtMs)
}
