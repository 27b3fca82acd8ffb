// Devices that the bench makes by itself, without asking the product for each: their keys follow from
// a name, so that whoever fills the database and whoever connects need not tell each other.

import { hash } from 'node:crypto'

const KEY_LENGTH = 32
/**
 * Each has its part of the channels: a session has at most 256 entries unacknowledged, and one
 * device is not what a fleet's whole stream goes to. (decisions.md 10)
 */
const DEVICES = 25

export interface NewDevices {
  readonly name: string
  readonly count: number
  /** Channels of each device; they follow those of the device before. */
  readonly channels: number
  /** The devices have the first so many channels, over and over. */
  readonly among: number
}

/** Keys of so many devices. */
export const deviceKeysOf = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) =>
    hash('sha256', `${name} ${index}`).slice(0, KEY_LENGTH),
  )

/** The name under which the product keeps a device. */
export const deviceIdOf = (deviceKey: string): string => hash('sha256', deviceKey)

/** Devices that together have each of so many channels once. Throws when no equal parts are left. */
export function devicesOfAll(name: string, channels: number): NewDevices {
  if (channels % DEVICES !== 0) throw new Error(`${channels} channels in ${DEVICES} equal parts`)
  return { name, count: DEVICES, channels: channels / DEVICES, among: channels }
}
