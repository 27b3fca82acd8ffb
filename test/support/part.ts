// Parts of a test that leave nothing to those after them.

import type { Owner } from './gateway.ts'

/** Runs a part of a test, for instance an example of a property: what it starts ends with it. */
export async function part(run: (owner: Owner) => Promise<void>): Promise<void> {
  const teardowns: Parameters<Owner['teardown']>[0][] = []
  try {
    await run({ teardown: (end) => void teardowns.push(end) })
  } finally {
    for (const end of teardowns.toReversed()) await end()
  }
}
