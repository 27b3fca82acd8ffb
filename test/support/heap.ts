// The bytes that live objects take in the heap of this process.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
