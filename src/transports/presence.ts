// Reports to the store which devices have a session: the store removes devices without one for
// long.

import type { DeviceId } from '#domain/identity'
import type { NowMs } from '#domain/ports'
import type { DeviceStore } from '#domain/store-ports'

/** The store keeps days, so a report of all sessions once an hour is enough. */
const REPORT_ALL_MS = 3_600_000

interface PresencePorts {
  readonly devices: Pick<DeviceStore, 'seen'>
  readonly nowMs: NowMs
}

export class Presence {
  readonly #ports: PresencePorts
  #arrived = new Set<DeviceId>()
  #reportedAllAt: number

  constructor(ports: PresencePorts) {
    this.#ports = ports
    this.#reportedAllAt = ports.nowMs()
  }

  /** Records that a session of this device has begun, for the next `report`. */
  arrived(deviceId: DeviceId): void {
    this.#arrived.add(deviceId)
  }

  /** Reports the devices that came since the last report and, once an hour, all present ones. */
  report(present: Iterable<DeviceId>): void {
    const now = this.#ports.nowMs()
    const isTimeForAll = now - this.#reportedAllAt >= REPORT_ALL_MS
    if (isTimeForAll) this.#reportedAllAt = now
    const seen = isTimeForAll ? new Set([...this.#arrived, ...present]) : this.#arrived
    if (seen.size === 0) return
    this.#arrived = new Set()
    // The next report of all devices repeats one that the store cannot take now.
    this.#ports.devices.seen([...seen], now).catch(() => undefined)
  }
}
