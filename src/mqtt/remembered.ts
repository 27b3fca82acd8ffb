// Keeps the exchanges of a kept session in the store.
//
// Invariants:
//   remembered/1. An exchange is in the store before its publish is submitted: whatever happens
//                 then, its client's next connection finds the op_id, on whichever node.
//   remembered/2. A store that does not answer delays a publish by RECORD_WITHIN_MS once, and no
//                 publish after it until it answers again: what the log takes, the gateway takes.

import type { Exchange, MqttSessionStore, SessionOwner } from '#domain/mqtt/sessions'
import type { Runtime } from '#domain/runtime'
import type { MadeIds } from '#src/acceptance/submissions'
import type { Exchanges } from './exchanges.ts'
import type { Publication } from './publishes.ts'

export interface RememberedPorts {
  readonly mqttSessions: Pick<MqttSessionStore, 'record'>
  readonly runtime: Pick<Runtime, 'after'>
  /** Counts an exchange that the store did not take in time. */
  readonly unrecorded: () => void
}

/** The op_id of a publish, and whether it may have been submitted already. */
export type PublishName = Pick<MadeIds, 'opId' | 'mayRepeat'>

const RECORD_WITHIN_MS = 1_000

export class Remembered {
  readonly #ports: RememberedPorts
  readonly #owner: SessionOwner
  readonly #exchanges: Exchanges
  #isAway = false

  constructor(ports: RememberedPorts, owner: SessionOwner, exchanges: Exchanges) {
    this.#ports = ports
    this.#owner = owner
    this.#exchanges = exchanges
  }

  /** The name of a publish; undefined when a newer connection has the session. */
  async nameOf(publication: Publication): Promise<PublishName | undefined> {
    const { opId, record } = this.#exchanges.begin(publication)
    if (record === undefined) return { opId, mayRepeat: true }
    return (await this.#record(record)) ? { opId } : undefined // remembered/1
  }

  /** Ends an exchange at QoS 2; false when a newer connection has the session. */
  async release(packetId: number): Promise<boolean> {
    const record = this.#exchanges.release(packetId)
    return record === undefined || this.#record(record)
  }

  /** remembered/2 */
  async #record(exchange: Exchange): Promise<boolean> {
    const { mqttSessions, runtime, unrecorded } = this.#ports
    const { promise: late, resolve } = Promise.withResolvers<true>()
    const giveUp = (): void => {
      if (!this.#isAway) unrecorded()
      this.#isAway = true
      resolve(true)
    }
    const recorded = mqttSessions.record(this.#owner, [exchange]).then(
      (isOwned) => {
        this.#isAway = false
        return isOwned
      },
      () => {
        giveUp()
        return true
      },
    )
    if (this.#isAway) return true
    const cancel = runtime.after(RECORD_WITHIN_MS, giveUp)
    const outcome = await Promise.race([recorded, late])
    cancel()
    return outcome
  }
}
