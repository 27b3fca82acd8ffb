// Reads publishes of the broker, with what its devices said before.
//
// Invariants:
//   bridge-reading/1. What devices say of later publishes is bounded in bytes.
//   bridge-reading/2. A defect in the reading of a publish makes it a broken one, and ends nothing.

import { reportDefect } from '#domain/defect'
import type { Logger, Meter } from '#domain/telemetry'
import { FamilyState, StateBudget } from '#src/mqtt/devices/family-state'
import type { Publish, Sender } from '#src/mqtt/devices/publish'
import { translate } from '#src/mqtt/devices/translate'

/** Bytes of what the devices behind the broker said of later publishes. */
const STATE_BYTES_MAX = 64 * 2 ** 20

export class Reading {
  readonly #logger: Logger
  readonly #state: FamilyState

  constructor({ meter, logger }: { readonly meter: Meter; readonly logger: Logger }) {
    this.#logger = logger
    const forgotten = meter.counter('device_state_forgotten_total', { by: 'bridge' })
    const bounds = { perState: STATE_BYTES_MAX, total: STATE_BYTES_MAX } // bridge-reading/1
    const budget = new StateBudget(bounds, forgotten)
    this.#state = new FamilyState(budget)
    meter.gauge('device_state_bytes', { by: 'bridge' }, () => budget.bytes)
  }

  /** Forgets what devices said. */
  reset(): void {
    this.#state.clear()
  }

  read(publish: Publish, sender: Sender): ReturnType<typeof translate> | 'broken' {
    try {
      return translate(publish, { sender, state: this.#state })
    } catch (error) {
      const { topic } = publish
      this.#logger.error('a publish of the broker is not read', { topic, ...reportDefect(error) })
      return 'broken' // bridge-reading/2
    }
  }
}
