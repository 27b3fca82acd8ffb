// The sink of submissions in tests of ingress: a list, which a test may close, delay or break.

import type { OperationId } from '#domain/identity'
import type { Answer, Pending, SubmissionSink } from '#domain/ports'
import type { Submission } from '#domain/submission'

type Accepted = Answer<{ readonly kind: 'accepted' }>

export class FakeSink implements SubmissionSink {
  readonly accepted: Submission[] = []
  readonly operations = new Map<OperationId, Pending>()
  /** The answer to the next submissions. */
  answer: () => Accepted | Promise<Accepted> = () => ({ kind: 'accepted' })

  async accept(submission: Submission): Promise<Accepted> {
    const answer = await this.answer()
    if (answer.kind === 'accepted') this.accepted.push(submission)
    return answer
  }

  find(opId: OperationId): Pending | undefined {
    return this.operations.get(opId)
  }
}
