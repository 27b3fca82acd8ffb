// Removes what must not outlive this process: servers, locks, temporary folders.
//
// Invariants:
//   at-exit/1. The action that was registered last runs first: a server is gone before its folder
//       is removed.
//   at-exit/2. A failed action does not keep the others from running.

const actions = new Set<() => void>()
let isListening = false

/**
 * Runs the action when this process ends, except by an unhandled signal. The process waits for
 * nothing by then, so the action must be synchronous. Gives a function that forgets it.
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
    // at-exit/2: nobody is left to hear of the error.
  }
}
