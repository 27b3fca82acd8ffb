// Composes dispatch of a cluster's node, which shares the jobs in the database with the dispatch of
// other nodes.

import { composeDispatch } from '#src/runtime/dispatch/dispatch'
import type { ThreadEnds, ThreadSettings } from '#src/runtime/threads/contract'
import type { ThreadEdge } from '#src/runtime/threads/threads'
import { openNodeConnections } from './node-connections.ts'

export async function composeClusterDispatch(
  settings: ThreadSettings,
  edge: ThreadEdge<'cluster-dispatch'>,
): Promise<ThreadEnds['cluster-dispatch']['services']> {
  const { metrics, store, bus, close } = await openNodeConnections(settings, edge, 'dispatch')
  const { pushes, secrets } = store
  const dispatch = await composeDispatch({ settings, edge, metrics, store: pushes, secrets })
  bus.onNotice(({ kind }) => {
    if (kind === 'pushes-queued') dispatch.nudge()
  })
  return {
    control: {
      ...dispatch,
      start: async () => dispatch.start(),
      close: async () => {
        await dispatch.close()
        await close()
      },
    },
  }
}
