// Time and chance of the page: the one place that asks the browser for them.

import { signal } from '@preact/signals'

import { nowMs } from './present.ts'

export { nowMs } from './present.ts'

/** A page that is not seen draws no frames. */
const UNSEEN_MS = 1_000

/** Calls back before the browser draws next; after a second where nothing is drawn. */
export function nextFrame(draw: () => void): void {
  const frame = requestAnimationFrame(() => {
    cancel()
    draw()
  })
  const cancel = afterDelay(UNSEEN_MS, () => {
    cancelAnimationFrame(frame)
    draw()
  })
}

/** Calls back once after a delay; gives a function that cancels it. */
export function afterDelay(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs)
  return () => clearTimeout(timer)
}

/** Calls back again and again until the function that it gives is called. */
export function every(periodMs: number, callback: () => void): () => void {
  const timer = setInterval(callback, periodMs)
  return () => clearInterval(timer)
}

/** The present second, in Unix milliseconds, for texts that tell an age. */
export const second = signal(nowMs())

every(1_000, () => {
  if (document.visibilityState === 'visible') second.value = nowMs()
})
document.addEventListener('visibilitychange', () => {
  second.value = nowMs()
})

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A password of four groups of five letters, which a person can read to another: 100 bits. */
export function proposedPassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20))
  const letters = [...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join('')
  return (letters.match(/.{5}/g) ?? []).join('-')
}
