// Tells the store which devices have a session: a device that is never seen goes some day.

import type { DeviceId } from '#domain/identity'
import type { NowMs } from '#domain/ports'
import type { DeviceStore } from '#domain/store-ports'

/** The store keeps days: an hour is early enough for a session that has lasted. */
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

  /** A session of this device has begun. It is told with others, at the next `tell`. */
  arrived(deviceId: DeviceId): void {
    this.#arrived.add(deviceId)
  }

  /** Tells of who came since the last time and, once an hour, of everybody who is here. */
  tell(present: Iterable<DeviceId>): void {
    const now = this.#ports.nowMs()
    const isTimeForAll = now - this.#toldAllAt >= TELL_ALL_MS
    if (isTimeForAll) this.#toldAllAt = now
    const seen = isTimeForAll ? new Set([...this.#arrived, ...present]) : this.#arrived
    if (seen.size === 0) return
    this.#arrived = new Set()
    // What the store cannot take is told again within the hour.
    this.#ports.devices.seen([...seen], now).catch(() => undefined)
  }
}
