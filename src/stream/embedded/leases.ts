// One process owns every lane. A later process on the same database gets greater epochs, so that
// the earlier one is fenced at its next commit.

import type { Lease } from '#domain/lane'
import type { LaneLeases } from '#domain/ports'
import type { TurnStore } from '#domain/store-ports'

export class SoleOwner implements LaneLeases {
  readonly #store: Pick<TurnStore, 'lastEpoch'>
  readonly #lanes: number

  constructor(store: Pick<TurnStore, 'lastEpoch'>, lanes: number) {
    this.#store = store
    this.#lanes = lanes
  }

  async watch(changed: (leases: readonly Lease[]) => void): Promise<() => Promise<void>> {
    const epoch = (await this.#store.lastEpoch()) + 1
    changed(Array.from({ length: this.#lanes }, (_, lane) => ({ lane, epoch })))
    return () => Promise.resolve()
  }

  /** A later process has the lanes for good. */
  fenced(): void {}
}
