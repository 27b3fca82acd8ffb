// Random hex for ids, drawn from the system in blocks: one call a block instead of one a request.

import type { Runtime } from '#domain/runtime'

const BLOCK_BYTES = 4096
const ID_BYTES = 16

/** Returns 32 lower-case hex characters that nobody can guess, new at each call. */
export function hexSource(entropy: Runtime['entropy']): () => string {
  let block = entropy(BLOCK_BYTES)
  let next = 0
  return () => {
    if (next === BLOCK_BYTES) {
      block = entropy(BLOCK_BYTES)
      next = 0
    }
    const from = next
    next += ID_BYTES
    return block.toString('hex', from, next)
  }
}
