// Values that the tests of submissions share: a channel, its password, a fixed clock, counted ids.

import type { Making } from '#src/schemas/submission'

export const CHANNEL = '0123456789ABCDEFGHJKMNPQR0'
export const PASSWORD = 'correct horse'
export const CREDENTIALS = { channel_id: CHANNEL, password: PASSWORD }
export const DEVICE_KEY = 'd'.repeat(32)
export const NOW_MS = 1_763_684_000_123

/** Ids 1, 2, 3 … as 32 hex characters, so that two of them never look alike. */
export function making(nowMs = NOW_MS): Making {
  let made = 0
  return {
    nowMs,
    newHex32: () => {
      made += 1
      return made.toString(16).padStart(32, '0')
    },
  }
}

/** `length` bytes of text in characters of four bytes each, filled up with ASCII. */
export const bytesOfText = (length: number): string =>
  '🌍'.repeat(Math.floor(length / 4)) + 'x'.repeat(length % 4)
