// Handles leases that the database refused while this node still holds them.
//
// Invariants:
//   refused-leases/1. When the database refuses a lease that the buckets still give to this node,
//     the bucket of lanes was rolled back. The node then raises all epochs: otherwise nobody could
//     apply such a lane.

import type { Lease } from '#domain/lane'
import type { Logger } from '#domain/telemetry'

import { reasonOf } from './connection.ts'

export interface RefusedLeasesPorts {
  readonly logger: Logger
  /** Returns the greatest epoch that the database knows: TurnStore.lastEpoch. */
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
  async raiseEpochs(
    held: readonly Lease[],
    raiseAbove: (epochFloor: number) => Promise<void>,
  ): Promise<void> {
    const isHeld = held.some(({ lane, epoch }) => this.#refused.get(lane) === epoch)
    if (!isHeld || this.#isRaising) return
    const { logger, epochFloor } = this.#ports
    this.#isRaising = true
    try {
      await raiseAbove(await epochFloor())
      this.#refused.clear()
      logger.warn('the lease buckets were rolled back; raised all epochs')
    } catch (error) {
      logger.debug('could not raise the epochs', { error: reasonOf(error) })
    } finally {
      this.#isRaising = false
    }
  }
}
