// A device for each tab: two tabs of one browser with the same device would end each other's
// session.

import { devices } from './saved.ts'
import type { SavedDevice } from './saved.ts'

const SLOTS_MAX = 8

/**
 * Takes the first number that no other tab has, until this tab is closed; 0 where the browser
 * cannot tell (it needs https, or this computer itself).
 */
export async function takeSlot(): Promise<number> {
  if (!('locks' in navigator)) return 0
  for (let slot = 0; slot < SLOTS_MAX; slot += 1) {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    void navigator.locks.request(`heliograph device ${slot}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null)
      // Held as long as the tab lives.
      return lock === null ? undefined : new Promise(() => {})
    })
    if (await promise) return slot
  }
  return 0
}

export const deviceIn = (slot: number): SavedDevice | undefined => devices.value[slot]

/** Keeps the device of a slot; undefined forgets it. */
export function keepDevice(slot: number, device: SavedDevice | undefined): void {
  const next: SavedDevice[] = [...devices.value]
  while (next.length <= slot) next.push({ deviceKey: '', channels: [] })
  next[slot] = device ?? { deviceKey: '', channels: [] }
  devices.value = next
}
