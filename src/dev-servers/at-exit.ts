// Removes what must not outlive this process: servers, locks, temporary folders.
//
// Invariants:
//   at-exit/1. What was registered last goes first: a server is gone before its folder is removed.
//   at-exit/2. One that fails does not keep the others from running.

const actions = new Set<() => void>()
let isListening = false

/**
 * Runs the action when this process ends, except by a signal that nobody handles. The process waits
 * for nothing by then, so the action must be synchronous. Gives the way to forget it.
 */
export function atExit(action: () => void): () => void {
  // The same function may be registered twice.
  const own = (): void => action()
  actions.add(own)
  if (!isListening) process.once('exit', runAll)
  isListening = true
  return () => void actions.delete(own)
}

function runAll(): void {
  for (const action of [...actions].toReversed()) attempt(action) // at-exit/1
}

function attempt(action: () => void): void {
  try {
    action()
  } catch {
    // at-exit/2. Nobody is left to be told.
  }
}
