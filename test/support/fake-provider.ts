// A provider that answers as it is told and keeps its pushes.

import type { Outcome, Provider, Push } from '#domain/push'
import type { ProviderName } from '#domain/push/providers'

export const DELIVERED: Outcome = { kind: 'delivered' }
export const AWAY: Outcome = { kind: 'deferred', reason: 'Away', trouble: 'provider' }
export const BUSY: Outcome = { kind: 'deferred', reason: 'TooMany', trouble: 'device' }
export const REFUSED: Outcome = { kind: 'deferred', reason: 'BadKey', trouble: 'credentials' }

export class FakeProvider implements Provider {
  readonly name: ProviderName
  /** Every push that it was sent, in order. */
  readonly sent: Push[] = []
  /** The delivered pushes, in order. */
  readonly taken: Push[] = []
  /** Asked for each push; a promise that waits is a provider that hangs. */
  answer: (push: Push) => Outcome | Promise<Outcome> = () => DELIVERED
  underWay = 0
  mostUnderWay = 0

  constructor(name: ProviderName = 'apns') {
    this.name = name
  }

  async send(push: Push): Promise<Outcome> {
    this.sent.push(push)
    this.underWay += 1
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay)
    const outcome = await this.answer(push)
    this.underWay -= 1
    if (outcome.kind === 'delivered') this.taken.push(push)
    return outcome
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
