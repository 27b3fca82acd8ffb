// The device to which the gateway pushes, as the page keeps it for the service worker, which reads
// no other storage of this browser.

import { isRecord } from '#domain/record'
import { storeIn } from '#console/state/database.ts'

/** The device, and how it speaks to the gateway and to the person. */
export interface PushedDevice {
  /** A secret. */
  readonly deviceKey: string
  /** The gateway token, a secret; '' for none. */
  readonly token: string
  readonly language: 'en' | 'zh-CN'
  /** The name of this browser, in which it acknowledges; '' for none. */
  readonly label: string
}

export const store = storeIn('heliograph notifications', 'kept')

const DEVICE = 'device'

export const keepDevice = (device: PushedDevice): Promise<void> => store.put(DEVICE, device)

/** The kept device; one without a key before any. */
export async function keptDevice(): Promise<PushedDevice> {
  const kept = await store.get(DEVICE)
  return isRecord(kept)
    ? (kept as unknown as PushedDevice) // written by `keepDevice`
    : { deviceKey: '', token: '', language: 'en', label: '' }
}
