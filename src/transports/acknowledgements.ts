// Writes acknowledged positions to the store in batches: the latest of each device and channel.
// Losing one costs a repeated delivery, never an entry.
//
// Invariants:
//   acknowledgement-writer/1. One write runs at a time, so the store never gets an earlier position
//     after a later one.
//   acknowledgement-writer/2. Positions of a failed write wait again, unless later ones have
//     replaced them.
//   acknowledgement-writer/3. At most `waitingMax` positions wait; beyond that, `record` drops new
//     ones until there is room.

import type { Acknowledgement, Position } from '#domain/feed'
import type { DeviceId } from '#domain/identity'
import type { SubscriptionStore } from '#domain/store-ports'
import type { Logger } from '#domain/telemetry'
import { reportDefect } from '#domain/defect'

const BATCH_MAX = 500

interface AcknowledgementPorts {
  readonly subscriptions: Pick<SubscriptionStore, 'acknowledge'>
  readonly logger: Logger
}

export class Acknowledgements {
  readonly #ports: AcknowledgementPorts
  readonly #waitingMax: number
  readonly #waiting = new Map<string, Acknowledgement>()
  #writing: Promise<void> | undefined

  constructor(ports: AcknowledgementPorts, waitingMax: number) {
    this.#ports = ports
    this.#waitingMax = waitingMax
  }

  get waiting(): number {
    return this.#waiting.size
  }

  record(acknowledgement: Acknowledgement): void {
    const key = keyOf(acknowledgement)
    const known = this.#waiting.get(key)
    // acknowledgement-writer/3
    if (known === undefined && this.#waiting.size >= this.#waitingMax) return
    if (known === undefined || known.seq < acknowledgement.seq) {
      this.#waiting.set(key, acknowledgement)
    }
  }

  /** The position with what the device has acknowledged since that was written. */
  corrected(deviceId: DeviceId, position: Position): Position {
    const waiting = this.#waiting.get(keyOf({ deviceId, channelId: position.channelId }))
    if (waiting === undefined || waiting.seq <= position.ackedSeq) return position
    return { ...position, ackedSeq: waiting.seq }
  }

  /** Forgets a position after the subscription ended: the next subscription must not get it. */
  forget({ deviceId, channelId }: Omit<Acknowledgement, 'seq'>): void {
    this.#waiting.delete(keyOf({ deviceId, channelId }))
  }

  /** Writes the waiting positions. Never rejects: unwritten ones wait for the next call. */
  flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    return this.#writing // acknowledgement-writer/1
  }

  /** Writes every position, also those that came during a write. */
  async flushAll(): Promise<void> {
    await this.#writing
    await this.flush()
  }

  async #write(): Promise<void> {
    const due = [...this.#waiting.keys()]
    for (let from = 0; from < due.length; from += BATCH_MAX) {
      const acknowledgements = this.#take(due.slice(from, from + BATCH_MAX))
      try {
        await this.#ports.subscriptions.acknowledge(acknowledgements)
      } catch (error) {
        // acknowledgement-writer/2
        for (const acknowledgement of acknowledgements) this.record(acknowledgement)
        this.#ports.logger.warn('acknowledgements could not be written', { ...reportDefect(error) })
        return
      }
    }
  }

  /** The latest positions: some may have moved while the batch before was written. */
  #take(keys: readonly string[]): readonly Acknowledgement[] {
    const taken: Acknowledgement[] = []
    for (const key of keys) {
      const acknowledgement = this.#waiting.get(key)
      if (acknowledgement !== undefined) taken.push(acknowledgement)
      this.#waiting.delete(key)
    }
    return taken
  }
}

const keyOf = ({ deviceId, channelId }: Omit<Acknowledgement, 'seq'>): string =>
  deviceId + channelId
