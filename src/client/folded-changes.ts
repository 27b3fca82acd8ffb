// Folds changes of Things between two moments, for programs that draw: however many updates come,
// each Thing changes at most once a frame.
//
// Invariants:
//   folded-changes/1. The listener gets every Thing that differs from the last call, once, with its
//     state before that call and its newest state. What waits is bounded by the number of Things.

import type { ThingChanged, ThingListener } from './replica.ts'

/** Calls back once at the next moment to draw; `requestAnimationFrame` is one. */
export type NextFrame = (draw: () => void) => unknown

export type FoldedListener = (changes: readonly ThingChanged[]) => void

/**
 * Makes a listener for `Replica.onChange` of one that wants the changes of a frame together, in the
 * order in which the Things first changed.
 */
export function foldedChanges(listener: FoldedListener, nextFrame: NextFrame): ThingListener {
  const waiting = new Map<string, ThingChanged>()
  const draw = (): void => {
    const changes = [...waiting.values()].filter(({ before, after }) => before !== after)
    waiting.clear()
    if (changes.length > 0) listener(changes)
  }
  return (change) => {
    if (waiting.size === 0) nextFrame(draw)
    const key = `${change.channelId}/${change.id}`
    const earlier = waiting.get(key)
    // folded-changes/1
    waiting.set(key, earlier === undefined ? change : { ...change, before: earlier.before })
  }
}
