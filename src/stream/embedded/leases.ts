// Gives a sole process every lease. A later process on the same database gets a greater epoch,
// which fences the earlier one at its next append and commit.

import type { Lease } from '#domain/lane'
import type { LaneLeases, LogSource } from '#domain/ports'
import type { TurnStore } from '#domain/store-ports'

export interface SoleOwnerPorts {
  readonly store: Pick<TurnStore, 'lastEpoch'>
  readonly log: Pick<LogSource, 'takeOver'>
  /** Called when another process has taken the lanes; it does not return them. */
  readonly onFenced: () => void
}

export class SoleOwner implements LaneLeases {
  readonly #lanes: readonly Lease[]
  readonly fenced: () => void

  private constructor(lanes: readonly Lease[], onFenced: () => void) {
    this.#lanes = lanes
    this.fenced = onFenced
  }

  /** Takes the log over. From then on only this process can append to it. */
  static async takeOver(ports: SoleOwnerPorts, lanes: number): Promise<SoleOwner> {
    const { store, log, onFenced } = ports
    const epoch = await log.takeOver(await store.lastEpoch())
    const leases = Array.from({ length: lanes }, (_, lane) => ({ lane, epoch }))
    return new SoleOwner(leases, onFenced)
  }

  watch(changed: (leases: readonly Lease[]) => void): Promise<() => Promise<void>> {
    changed(this.#lanes)
    return Promise.resolve(() => Promise.resolve())
  }
}
