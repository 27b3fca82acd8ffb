// A store that joins blocks after each commit, so that readers meet joined ones.

import type { Store } from '#src/store/store'
import type { OpenStore } from '#test/contracts/store-contract'
import { rounds } from '#test/support/until'

/** A time at which every row is old. */
const LATE_MS = Number.MAX_SAFE_INTEGER

/** Gathers every update; returns how many. */
export async function joinAll({ joining }: Pick<Store, 'joining'>): Promise<number> {
  let sum = 0
  for (const goOn = rounds(); goOn();) {
    const moved = await joining.join(LATE_MS)
    if (moved === 0) break
    sum += moved
  }
  return sum
}

/** The same store; its commits join. */
function joinsAfterCommits(store: Store): Store {
  const { turns } = store
  const commit = turns.commit.bind(turns)
  const committing: Pick<typeof turns, 'commit'> = {
    commit: async (writes) => {
      const committed = await commit(writes)
      await joinAll(store)
      return committed
    },
  }
  Object.assign(turns, committing)
  return store
}

/** Opens stores whose commits join. */
export const joined =
  (open: OpenStore): OpenStore =>
  async (t, pushes) =>
    joinsAfterCommits(await open(t, pushes))
