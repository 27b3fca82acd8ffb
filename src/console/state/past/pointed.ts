// What charts that stand together share: the span that they show, and the time pointed at.

import { effect, signal } from '@preact/signals'

import { afterDelay, nowMs, second } from '#console/state/clock.ts'
import { ask, asked } from '#console/state/route.ts'
import { endOf, panned, queryFor, spanIn, zoomed } from './span.ts'
import type { Span } from './span.ts'

/** The span of the address. */
export const span = signal<Span>(spanIn(asked.peek()))
/** The time under the pointer of one of the charts, in Unix milliseconds. */
export const pointedMs = signal<number | undefined>(undefined)

effect(() => {
  span.value = spanIn(asked.value)
})

/** Browsers refuse pages that change their address in each frame. */
const WRITTEN_MS = 250
let cancelWriting = (): void => {}

/** Shows another span; the address follows when it rests. */
export function setSpan(next: Span): void {
  span.value = next
  const { hash } = location
  cancelWriting()
  cancelWriting = afterDelay(WRITTEN_MS, () => {
    // The person has gone elsewhere meanwhile.
    if (location.hash === hash) ask(queryFor(next))
  })
}

export const pan = (part: number): void => setSpan(panned(span.peek(), part, nowMs()))
export const zoom = (factor: number, at: number): void =>
  setSpan(zoomed(span.peek(), factor, at, nowMs()))

/** A chart that follows the present moves by so many steps in all. */
const STEPS = 1_000

/** The beginning and the end of a span as they are drawn: a long one does not move each second. */
export function drawnSpan(shown: Span): { readonly fromMs: number; readonly toMs: number } {
  const stepMs = Math.max(1_000, shown.lengthMs / STEPS)
  const presentMs = shown.toMs === undefined ? Math.ceil(second.value / stepMs) * stepMs : 0
  const toMs = endOf(shown, presentMs)
  return { fromMs: toMs - shown.lengthMs, toMs }
}
