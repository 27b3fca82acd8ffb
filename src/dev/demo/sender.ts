// Sends submissions, and counts each with its time in the tally.

import { HeliographError } from '#src/client/error'
import type { Tally } from './tally.ts'

export class Sender {
  readonly #tally: Tally
  readonly #monotonicMs: () => number

  constructor(tally: Tally, monotonicMs: () => number) {
    this.#tally = tally
    this.#monotonicMs = monotonicMs
  }

  /** Returns the gateway's answer; undefined for a refusal, which it counts in the tally. */
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
