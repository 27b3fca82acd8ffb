// Devices that the bench makes by itself, without asking the product for each: their keys follow from
// a name, so that whoever fills the database and whoever connects need not tell each other.

import { hash } from 'node:crypto'

const KEY_LENGTH = 32

/** Keys of so many devices. */
export const deviceKeysOf = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) =>
    hash('sha256', `${name} ${index}`).slice(0, KEY_LENGTH),
  )

/** The name under which the product keeps a device. */
export const deviceIdOf = (deviceKey: string): string => hash('sha256', deviceKey)
