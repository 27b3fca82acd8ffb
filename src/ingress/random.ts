// Random hex for ids, drawn from the system in blocks: one call a block instead of one a request.

import { randomFillSync } from 'node:crypto'

const BLOCK_BYTES = 4096
const ID_BYTES = 16

/** Gives 32 lower-case hex characters that nobody can guess, new at each call. */
export function hexSource(): () => string {
  const block = Buffer.allocUnsafe(BLOCK_BYTES)
  let next = BLOCK_BYTES
  return () => {
    if (next === BLOCK_BYTES) {
      randomFillSync(block)
      next = 0
    }
    const from = next
    next += ID_BYTES
    return block.toString('hex', from, next)
  }
}
