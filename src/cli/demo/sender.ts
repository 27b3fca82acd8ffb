// Sends submissions, and tells the tally the time of each.

import { HeliographError } from '#src/client/error'
import type { Tally } from './tally.ts'

export class Sender {
  readonly #tally: Tally
  readonly #monotonicMs: () => number

  constructor(tally: Tally, monotonicMs: () => number) {
    this.#tally = tally
    this.#monotonicMs = monotonicMs
  }

  /** The answer; undefined when the gateway refused, which the tally counts. */
  async send<Accepted extends { readonly op_id: string }>(
    submit: () => Promise<Accepted>,
  ): Promise<Accepted | undefined> {
    const sentAtMs = this.#monotonicMs()
    try {
      const accepted = await submit()
      this.#tally.accepted(accepted.op_id, sentAtMs)
      return accepted
    } catch (error) {
      if (!(error instanceof HeliographError)) throw error
      this.#tally.refused(error.code)
      return undefined
    }
  }
}
