// Answers leases that the database refused while this node still holds them.
//
// Invariants:
//   refused-leases/1. When the database refuses a lease that the buckets still give to this node,
//     all epochs are raised: the bucket of lanes was rolled back. Otherwise such a lane would stay
//     without an owner.

import type { Lease } from '#domain/lane'
import type { Logger } from '#domain/telemetry'

import { reasonOf } from './connection.ts'

export interface RefusedLeasesPorts {
  readonly logger: Logger
  /** The greatest epoch that the database knows: TurnStore.lastEpoch. */
  readonly epochFloor: () => Promise<number>
}

export class RefusedLeases {
  readonly #ports: RefusedLeasesPorts
  /** Epochs by lane. */
  readonly #refused = new Map<number, number>()
  #isRaising = false

  constructor(ports: RefusedLeasesPorts) {
    this.#ports = ports
  }

  add({ lane, epoch }: Lease): void {
    this.#refused.set(lane, epoch)
  }

  /** Raises all epochs when the database refused one of the held leases. Never rejects. */
  async answer(
    held: readonly Lease[],
    raiseAbove: (epochFloor: number) => Promise<void>,
  ): Promise<void> {
    const isConcerned = held.some(({ lane, epoch }) => this.#refused.get(lane) === epoch)
    if (!isConcerned || this.#isRaising) return
    const { logger, epochFloor } = this.#ports
    this.#isRaising = true
    try {
      await raiseAbove(await epochFloor())
      this.#refused.clear()
      logger.warn('the lease buckets were rolled back; all epochs are raised')
    } catch (error) {
      logger.debug('the epochs could not be raised', { error: reasonOf(error) })
    } finally {
      this.#isRaising = false
    }
  }
}
