// The refusals of a channel's submissions, for whoever looks for what is wrong with a program.
//
// Invariants:
//   refusals/1. Whoever reads them has opened the whole channel.

import { isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Caller } from '#src/acceptance/caller'
import type { Stage } from '#src/acceptance/stage'
import { REFUSALS } from '#src/schemas/operator/refusal-routes'
import type { KeptRefusal } from '#src/schemas/operator/refusal-routes'
import { readersOf } from '#src/schemas/shape'

const READ = readersOf(REFUSALS)

export class Refusals {
  readonly #ports: Pick<Stage, 'access' | 'refusals'>

  constructor(ports: Pick<Stage, 'access' | 'refusals'>) {
    this.#ports = ports
  }

  async list(
    fields: unknown,
    caller: Caller,
  ): Promise<Answer<{ readonly items: readonly KeptRefusal[] }>> {
    const read = (sent: unknown) => {
      const request = READ.list(sent)
      return isFault(request) ? request : request.reader
    }
    // refusals/1
    const ask = { fields, caller, read, scope: 'read', isWhole: true } as const
    const opened = await this.#ports.access.open(ask)
    return isFault(opened) ? opened : { items: this.#ports.refusals.of(opened.channelId) }
  }
}
