// A store that gathers updates after each commit, so that readers meet blocks where rows were.

import type { Store } from '#src/store/store'
import type { OpenStore } from '#test/contracts/store-contract'
import { rounds } from '#test/support/until'

/** A time at which every row is old. */
const LATE_MS = Number.MAX_SAFE_INTEGER

/** Gathers every update; returns how many. */
export async function gatherAll({ gathering }: Pick<Store, 'gathering'>): Promise<number> {
  let sum = 0
  for (const goOn = rounds(); goOn();) {
    const moved = await gathering.gather(LATE_MS)
    if (moved === 0) break
    sum += moved
  }
  return sum
}

/** The same store; its commits gather. */
function gathersAfterCommits(store: Store): Store {
  const { turns } = store
  const commit = turns.commit.bind(turns)
  const committing: Pick<typeof turns, 'commit'> = {
    commit: async (writes) => {
      const committed = await commit(writes)
      await gatherAll(store)
      return committed
    },
  }
  Object.assign(turns, committing)
  return store
}

/** Opens stores whose commits gather. */
export const gathered =
  (open: OpenStore): OpenStore =>
  async (t, pushes) =>
    gathersAfterCommits(await open(t, pushes))
