// Tells the store which devices have a session: the store removes devices that it has not seen for
// long.

import type { DeviceId } from '#domain/identity'
import type { NowMs } from '#domain/ports'
import type { DeviceStore } from '#domain/store-ports'

/** The store keeps days, so telling it of lasting sessions once an hour is enough. */
const TELL_ALL_MS = 3_600_000

interface AttendancePorts {
  readonly devices: Pick<DeviceStore, 'seen'>
  readonly nowMs: NowMs
}

export class Attendance {
  readonly #ports: AttendancePorts
  #arrived = new Set<DeviceId>()
  #toldAllAt: number

  constructor(ports: AttendancePorts) {
    this.#ports = ports
    this.#toldAllAt = ports.nowMs()
  }

  /** Notes that a session of this device has begun; the next `tell` tells of it. */
  arrived(deviceId: DeviceId): void {
    this.#arrived.add(deviceId)
  }

  /** Tells of devices that came since the last time and, once an hour, of all present ones. */
  tell(present: Iterable<DeviceId>): void {
    const now = this.#ports.nowMs()
    const isTimeForAll = now - this.#toldAllAt >= TELL_ALL_MS
    if (isTimeForAll) this.#toldAllAt = now
    const seen = isTimeForAll ? new Set([...this.#arrived, ...present]) : this.#arrived
    if (seen.size === 0) return
    this.#arrived = new Set()
    // Devices that the store cannot note now are told again within the hour.
    this.#ports.devices.seen([...seen], now).catch(() => undefined)
  }
}
