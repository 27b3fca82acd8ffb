// Runs cleanup actions at the end of this process, for servers, locks and temporary folders.
//
// Invariants:
//   at-exit/1. The last registered action runs first, so that a server ends before the removal of
//       its folder.
//   at-exit/2. A failed action does not prevent the others.

const actions = new Set<() => void>()
let isListening = false

/**
 * Runs the action when this process ends, except by an unhandled signal. The action must be
 * synchronous: a process that exits waits for nothing. Gives a function that cancels the action.
 */
export function atExit(action: () => void): () => void {
  // A caller may register the same function twice.
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
    // at-exit/2: the process ends, so nothing can handle the error.
  }
}
