// The bytes that live objects take in the heap of this process.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function heapAfterCollection(): number {
  collect()
  return process.memoryUsage().heapUsed
}

/** Frees what nothing holds any more. */
export function collect(): void {
  setFlagsFromString('--expose-gc')
  const run = runInNewContext('gc') as () => void
  run()
}
